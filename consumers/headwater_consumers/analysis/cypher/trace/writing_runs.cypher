// Batch runs of the jobs that write a dataset, the latest first, as far as they began before a time
UNWIND $given.wants AS want
MATCH (:HwDataset {key: want.dataset})<-[:WRITES]-(j:HwJob)
CALL (j, want) {
  MATCH (j)<-[:OF]-(r:HwRun)
  WHERE r.query_id IS NULL AND (want.until IS NULL OR r.started_at IS NULL OR r.started_at <= want.until)
  RETURN r ORDER BY r.started_at DESC, r.key LIMIT $given.limit
}
RETURN want.n AS n, 'Run' AS label, r {.*} AS properties, j {.key, .namespace, .name, .processing_type} AS job,
  [(r)-[u:CONSUMED|PRODUCED]->(d:HwDataset) | [type(u), d.key, u {.*}]] AS uses
