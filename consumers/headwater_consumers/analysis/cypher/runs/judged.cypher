// The latest run of a job of whose assertions none failed, and the first after it of which one did; of a dataset, those about it
CALL () {
  MATCH (r:HwRun)
  USING INDEX SEEK r:HwRun(_checked, last_seen)
  WHERE r._checked = $given.job AND r.last_seen <= $given.until
  WITH r ORDER BY r._checked DESC, r.last_seen DESC LIMIT $given.looked_at
  RETURN collect(r) AS runs
}
CALL (runs) {
  UNWIND runs AS r
  CALL (r) {
    OPTIONAL MATCH (r)-[use:CONSUMED|PRODUCED]->(d:HwDataset)
    WHERE $given.of IS NOT NULL AND d.key IN $given.of AND use.uncommitted IS NULL
    WITH collect(type(use)) AS uses, collect([d.namespace, d.name]) AS names
    RETURN [n IN range(0, size(r.quality_passed) - 1)
      WHERE $given.of IS NULL OR (coalesce(r.quality_datasets[n], '') = '' AND 'PRODUCED' IN uses)
        OR [r.quality_namespaces[n], r.quality_datasets[n]] IN names | n] AS about
  }
  WITH r, about WHERE size(about) > 0
  WITH r, about ORDER BY r.last_seen DESC, r.key DESC
  RETURN collect({run: r, failed: [n IN about WHERE NOT r.quality_passed[n]]}) AS judged
}
WITH size(runs) AS looked_at, judged, [n IN range(0, size(judged) - 1) WHERE size(judged[n].failed) = 0][0] AS place
WITH looked_at, judged[place].run.key AS good, CASE
  WHEN place IS NULL THEN judged[size(judged) - 1]
  WHEN place > 0 THEN judged[place - 1]
END AS bad
WITH looked_at, good, bad.failed AS failed, bad.run AS r
RETURN looked_at, good, failed, r.key AS bad, r {.quality_assertions, .quality_passed, .quality_columns, .quality_values, .quality_namespaces,
  .quality_datasets, .quality_rules, .quality_severities, .quality_suites, .quality_suite_versions} AS outcomes
