// Streaming queries by key, with their job
UNWIND $given.keys AS key
MATCH (q:Query {key: key})
RETURN '' AS dataset, q.key AS key, q.query_id AS query_id, q.name AS name,
  q.first_batch AS first_batch, q.last_batch AS last_batch, q._retired IS NOT NULL AS summarized, true AS reads, true AS writes,
  head([(q)-[:OF]->(j:Job) | j {.key, .namespace, .name, .processing_type}]) AS job
