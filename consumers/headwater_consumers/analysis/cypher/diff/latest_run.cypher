// When the latest run of a job that was seen by a time was first seen
MATCH (:Job {key: $job})<-[:OF]-(r:Run)
WHERE r.first_seen <= $as_of OR $as_of IS NULL
RETURN max(r.first_seen) AS first_seen
