// Streaming queries that write a dataset
MATCH (d:HwDataset)<-[:WRITES]-(q:HwQuery)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key IN $given.of
RETURN DISTINCT q.key AS key, q.query_id AS query_id, q.first_batch AS first, q.last_batch AS last ORDER BY key
