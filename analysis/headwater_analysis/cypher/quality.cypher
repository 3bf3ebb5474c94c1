// batches: The latest micro-batch with assertions of each streaming query that writes a dataset, among the latest segments
UNWIND $given.datasets AS key
MATCH (d:HwDataset)<-[:WRITES]-(q:HwQuery)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key = key AND q.last_batch IS NOT NULL
CALL (q) {
  MATCH (s:HwSegment)
  USING INDEX SEEK s:HwSegment(query, start)
  WHERE s.query = q.key AND s.start > q.last_batch - $given.back AND coalesce(s.last_passed, last(s.failed)) IS NOT NULL
  WITH s ORDER BY s.query DESC, s.start DESC LIMIT 1
  WITH coalesce(last(s.failed), -1) AS failed, coalesce(s.last_passed, -1) AS passed
  RETURN CASE WHEN failed > passed THEN failed ELSE passed END AS batch
}
WITH d, q, batch WHERE batch >= 0
RETURN d.key AS dataset, d.namespace AS namespace, d.name AS name, q.key AS query, q.query_id AS query_id, batch,
  head([(q)-[:OF]->(j:HwJob) | j {.key, .namespace, .name, .processing_type}]) AS job

// runs: The latest run of each job that checked a dataset, among the job's latest runs with assertions
CALL () {
  // Many graphs have no assertions.
  MATCH (checked:HwRun)
  USING INDEX SEEK checked:HwRun(_checked, last_seen)
  WHERE checked._checked > '' AND checked.last_seen IS NOT NULL
  RETURN checked LIMIT 1
}
UNWIND $given.datasets AS key
MATCH (d:HwDataset)<-[:READS|WRITES]-(j:HwJob)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key = key
WITH DISTINCT d, j
CALL (d, j) {
  MATCH (r:HwRun)
  USING INDEX SEEK r:HwRun(_checked, last_seen)
  WHERE r._checked = j.key AND r.last_seen <= $given.until
  WITH r ORDER BY r._checked DESC, r.last_seen DESC LIMIT $given.looked_at
  WHERE any(n IN range(0, size(coalesce(r.quality_datasets, [])) - 1)
      WHERE r.quality_datasets[n] = d.name AND r.quality_namespaces[n] = d.namespace)
    OR (coalesce(any(name IN r.quality_datasets WHERE name = ''), true) AND EXISTS { (r)-[:PRODUCED]->(d) })
  RETURN r LIMIT 1
}
RETURN d.key AS dataset, d.namespace AS namespace, d.name AS name,
  j {.key, .namespace, .name, .processing_type} AS job, EXISTS { (r)-[:PRODUCED]->(d) } AS produced,
  r {.run_id, .last_seen, .ended_at, .quality_assertions, .quality_passed, .quality_columns, .quality_values,
    .quality_namespaces, .quality_datasets, .quality_rules, .quality_severities, .quality_suites,
    .quality_suite_versions} AS run
