// When the latest run of a job that was seen by a time was first seen
MATCH (:HwJob {key: $given.job})<-[:OF]-(r:HwRun)
WHERE r.first_seen <= $given.as_of OR $given.as_of IS NULL
RETURN max(r.first_seen) AS first_seen
