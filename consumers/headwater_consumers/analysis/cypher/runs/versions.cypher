// Versions of a dataset, the latest produced first, with what produced each
MATCH (d:HwDataset)<-[:OF]-(v:HwVersion) WHERE d.key IN $given.of
WITH v, [(v)<-[w:WROTE]-(p) | coalesce(p.ended_at, w.first_time, p.last_seen)] AS times
WITH v, coalesce(reduce(first = null, t IN times | CASE WHEN first IS NULL OR t < first THEN t ELSE first END), $given.epoch) AS made
WHERE $given.made IS NULL OR made < $given.made OR (made = $given.made AND v.key < $given.key)
WITH v, made ORDER BY made DESC, v.key DESC LIMIT $given.limit
RETURN v {.key, .format, .version, .parent_id, .operation, .partitions, .file_count, .file_bytes} AS version, made,
  reduce(total = 0, n IN [(v)<-[r:READ]-() | size(coalesce(r.batches, [0]))] | total + n) AS readers,
  reduce(total = 0, n IN [(v)<-[r:WROTE]-() | size(coalesce(r.batches, [0]))] | total + n) AS writers,
  COLLECT {
    MATCH (v)<-[:WROTE]-(r:HwRun)
    WITH r, coalesce(r.ended_at, r.last_seen) AS at ORDER BY at, r.key LIMIT $given.producers
    RETURN r {.key, .run_id, .query_id, .code_version, .job_namespace, .job_name, at: at} ORDER BY at, r.key
  } AS runs,
  COLLECT {
    MATCH (v)<-[w:WROTE]-(s:HwSegment)
    WITH s, w ORDER BY w.first_time, s.key LIMIT $given.producers
    RETURN [s.query, w.batches[..$given.producers]] ORDER BY w.first_time, s.key
  } AS segments
ORDER BY made DESC, version.key DESC
