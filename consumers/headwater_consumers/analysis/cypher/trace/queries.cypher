// Streaming queries that read or write some datasets, with their job
UNWIND $given.datasets AS dataset
MATCH (d:Dataset {key: dataset})<-[:READS|WRITES]-(q:Query)
WITH DISTINCT dataset, d, q
RETURN dataset, q.key AS key, q.query_id AS query_id, q.name AS name,
  q.first_batch AS first_batch, q.last_batch AS last_batch, q._retired IS NOT NULL AS summarized,
  EXISTS { (q)-[:READS]->(d) } AS reads, EXISTS { (q)-[:WRITES]->(d) } AS writes,
  head([(q)-[:OF]->(j:Job) | j {.key, .namespace, .name, .processing_type}]) AS job
ORDER BY dataset, key
