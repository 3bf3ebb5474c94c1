// Streaming queries that read or write a dataset
MATCH (q:Query)-[:READS|WRITES]->(d:Dataset) WHERE id(d) IN $given.ids
RETURN DISTINCT q {.key, .query_id, .query_name, .checkpoint_location, .first_batch, .last_batch} AS query
ORDER BY query.key
