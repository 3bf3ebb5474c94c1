// One streaming query: its jobs, and the datasets its micro-batches read and wrote
MATCH (q:Query {key: $query}) WHERE q.tenant = $tenant
RETURN
  COLLECT { MATCH (q)-[:OF]->(j:Job) RETURN [j.namespace, j.name] ORDER BY j.key } AS jobs,
  COLLECT { MATCH (q)-[:READS]->(d:Dataset) RETURN [d.namespace, d.name] ORDER BY d.key } AS reads,
  COLLECT { MATCH (q)-[:WRITES]->(d:Dataset) RETURN [d.namespace, d.name] ORDER BY d.key } AS writes,
  q.query_name AS name
