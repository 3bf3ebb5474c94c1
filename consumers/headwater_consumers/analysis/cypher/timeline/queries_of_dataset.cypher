// Streaming queries that read or write a dataset
UNWIND $given.ids AS id
MATCH (d) WHERE id(d) = id
MATCH (q:HwQuery)-[:READS|WRITES]->(d)
RETURN DISTINCT q {.key, .query_id, .query_name, .checkpoint_location, .first_batch, .last_batch} AS query
ORDER BY query.key
