// Streaming queries of a job
MATCH (:Job {key: $given.of})<-[:OF]-(q:Query)
RETURN q.key AS key, q.query_id AS query_id, q.first_batch AS first, q.last_batch AS last ORDER BY q.key
