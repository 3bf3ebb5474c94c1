// Streaming queries that read a dataset by any of its names
MATCH (q:HwQuery)-[r:READS]->(d:HwDataset)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key IN $given.keys
OPTIONAL MATCH (q)-[:OF]->(j:HwJob)
WITH q, max(r.last_seen) AS last_seen, head(collect(DISTINCT j)) AS j
RETURN q.query_id AS query_id, q.query_name AS query_name, q.checkpoint_location AS checkpoint, last_seen,
  j {.key, .namespace, .name, .processing_type} AS job
ORDER BY q.key
