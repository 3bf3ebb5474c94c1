// Batch runs of the jobs that write a dataset, the latest first, as far as they began before a time
UNWIND $given.wants AS want
MATCH (:Dataset {key: want.dataset})<-[:WRITES]-(j:Job)
CALL (j, want) {
  MATCH (j)<-[:OF]-(r:Run)
  WHERE r.query_id IS NULL AND (want.until IS NULL OR r.started_at IS NULL OR r.started_at <= want.until)
  RETURN r ORDER BY r.started_at DESC, r.key LIMIT $given.limit
}
RETURN want.n AS n, 'Run' AS label, r {.*} AS properties, j {.key, .namespace, .name, .processing_type} AS job,
  [(r)-[u:CONSUMED|PRODUCED]->(d:Dataset) | [type(u), d.key, u {.*}]] AS uses
