// Streaming queries that read a dataset by any of its names
MATCH (q:Query)-[r:READS]->(d:Dataset)
USING INDEX SEEK d:Dataset(key)
WHERE d.key IN $given.keys
OPTIONAL MATCH (q)-[:OF]->(j:Job)
WITH q, max(r.last_seen) AS last_seen, head(collect(DISTINCT j)) AS j
RETURN q.query_id AS query_id, q.query_name AS query_name, q.checkpoint_location AS checkpoint, last_seen,
  j {.key, .namespace, .name, .processing_type} AS job
ORDER BY q.key
