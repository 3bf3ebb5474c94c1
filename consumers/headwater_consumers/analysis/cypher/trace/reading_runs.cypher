// Batch runs of the jobs that read a dataset, as far as they ended after a time
UNWIND $given.wants AS want
MATCH (:HwDataset {key: want.dataset})<-[:READS]-(j:HwJob)
CALL (j, want) {
  MATCH (j)<-[:OF]-(r:HwRun)
  WHERE r.query_id IS NULL AND (want.since IS NULL OR r.ended_at IS NULL OR r.ended_at >= want.since)
  RETURN r ORDER BY r.started_at, r.key LIMIT $given.limit
}
RETURN want.n AS n, 'Run' AS label, r {.*} AS properties, j {.key, .namespace, .name, .processing_type} AS job,
  [(r)-[u:CONSUMED|PRODUCED]->(d:HwDataset) | [type(u), d.key, u {.*}]] AS uses
