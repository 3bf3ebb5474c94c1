// How many runs a job has in all
MATCH (:Job {key: $given.of})<-[:OF]-(r:Run)
RETURN count(r) AS total
