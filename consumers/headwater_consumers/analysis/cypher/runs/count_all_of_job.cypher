// How many runs a job has in all
MATCH (:HwJob {key: $given.of})<-[:OF]-(r:HwRun)
RETURN count(r) AS total
