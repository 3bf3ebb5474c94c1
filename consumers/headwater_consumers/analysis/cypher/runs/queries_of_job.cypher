// Streaming queries of a job
MATCH (:HwJob {key: $given.of})<-[:OF]-(q:HwQuery)
RETURN q.key AS key, q.query_id AS query_id, q.first_batch AS first, q.last_batch AS last ORDER BY q.key
