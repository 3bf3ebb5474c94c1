// Queries with their jobs, and all retentions there are: few
CALL () {
  MATCH (n:HwRetention)
  USING INDEX n:HwRetention(key)
  WHERE n.key >= ''
  RETURN collect(n {.key, summarize_before: n.summarize_before.epochMillis * 1000 + n.summarize_before.microsecond % 1000,
    drop_before: n.drop_before.epochMillis * 1000 + n.drop_before.microsecond % 1000}) AS retentions
}
UNWIND $batch.rows AS key
MATCH (q:HwQuery {key: key})
RETURN collect([q.key, q.tenant, q.query_id, q._retired, [(q)-[:OF]->(j:HwJob) | [j.namespace, j.name]], retentions]) AS found
