// Versions of a dataset, the latest produced first, with what produced each
MATCH (d:Dataset)<-[:OF]-(v:Version) WHERE d.key IN $given.of
WITH v, [(v)<-[:WROTE]-(p) | coalesce(p.ended_at, p.processing_time, p.last_seen)] AS times
WITH v, coalesce(reduce(first = null, t IN times | CASE WHEN first IS NULL OR t < first THEN t ELSE first END), $given.epoch) AS made
WHERE $given.made IS NULL OR made < $given.made OR (made = $given.made AND v.key < $given.key)
WITH v, made ORDER BY made DESC, v.key DESC LIMIT $given.limit
RETURN v {.key, .format, .version, .parent_id, .operation, .partitions, .file_count, .file_bytes} AS version, made,
  COUNT { (v)<-[:READ]-() } AS readers, COUNT { (v)<-[:WROTE]-() } AS writers,
  COLLECT {
    MATCH (v)<-[:WROTE]-(p)
    WITH p, coalesce(p.ended_at, p.processing_time, p.last_seen) AS at ORDER BY at, p.key LIMIT $given.producers
    WITH p, at, head([(p)-[:IN_RUN]->(r:Run) | [r.job_namespace, r.job_name]]
      + [(p)-[:IN_QUERY]->(:Query)-[:OF]->(j:Job) | [j.namespace, j.name]]) AS job
    RETURN p {.run_id, .query_id, .batch_id, .code_version, at: at, is_run: p:Run, is_conflict: p:Conflict,
      namespace: coalesce(p.job_namespace, job[0]), job: coalesce(p.job_name, job[1])} ORDER BY at, p.key
  } AS producers
ORDER BY made DESC, version.key DESC
