// later_writers: Batch runs that wrote a dataset after a time, the latest first
UNWIND $given.wants AS want
MATCH (:HwDataset {key: want.dataset})<-[:WRITES]-(j:HwJob)
CALL (j, want) {
  MATCH (j)<-[:OF]-(r:HwRun)
  WHERE r.query_id IS NULL AND r.state = 'COMPLETE' AND r.started_at >= want.since
  RETURN r ORDER BY r.started_at DESC, r.key LIMIT $given.limit
}
RETURN want.n AS n, 'Run' AS label, r {.*} AS properties, j {.key, .namespace, .name, .processing_type} AS job,
  [(r)-[u:CONSUMED|PRODUCED]->(d:HwDataset) | [type(u), d.key, u {.*}]] AS uses
ORDER BY n, j.key, r.started_at DESC, r.key

// queries_by_name: Streaming queries by id or name
MATCH (q:HwQuery)
WHERE q.tenant = $given.tenant AND (q.query_id = $given.name OR q.name = $given.name OR q.query_name = $given.name)
RETURN q.key AS key, q.query_id AS query_id, q.name AS name ORDER BY key

// queries_by_prefix: Streaming queries by a prefix of their ids
MATCH (q:HwQuery)
WHERE q.tenant = $given.tenant AND any(prefix IN $given.prefixes WHERE q.query_id STARTS WITH prefix)
RETURN q.key AS key, q.query_id AS query_id ORDER BY query_id LIMIT $given.limit

// run: A run by its id, with its inputs and outputs, and the last runs that it started
MATCH (r:HwRun {key: $given.key})
RETURN 0 AS n, 'Run' AS label, r {.*} AS properties,
  head([(r)-[:OF]->(j:HwJob) | j {.key, .namespace, .name, .processing_type}]) AS job,
  [(r)-[u:CONSUMED|PRODUCED]->(d:HwDataset) | [type(u), d.key, u {.*}]] AS uses,
  head(COLLECT { MATCH (r)-[:IN_QUERY]->(q:HwQuery) RETURN q.key ORDER BY q.key LIMIT 1 }) AS query,
  COUNT { (r)<-[:CHILD_OF]-(:HwRun) } AS children_total,
  COLLECT { MATCH (r)<-[:CHILD_OF]-(c:HwRun) RETURN c.run_id ORDER BY c.started_at DESC, c.key LIMIT 5 } AS children

// writing_queries: Streaming queries that write some datasets, with their job
UNWIND $given.datasets AS dataset
MATCH (:HwDataset {key: dataset})<-[:WRITES]-(q:HwQuery)
RETURN dataset, q.key AS key ORDER BY dataset, key
