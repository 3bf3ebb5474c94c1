// broken_segments: Segments of streaming queries, used since a time, with gaps or overlaps, and how many micro-batches are missing
MATCH (s:HwSegment)
USING INDEX SEEK s:HwSegment(_broken)
WHERE s._broken > '' AND s.tenant = $given.tenant AND s.last_time >= $given.since
RETURN s._broken AS query, [n IN range(0, size(s.broken) - 1) WHERE s.gaps[n] > 0 OR s.overlaps[n] > 0 | s.broken[n]] AS batches,
  reduce(total = 0, each IN s.missing | total + each) AS missing
ORDER BY s.last_time DESC, query, s.start DESC LIMIT $given.limit

// failed_batches: The latest segments of each streaming query with failed assertions since a time, and whether older ones weren't looked at
MATCH (q:HwQuery)
USING INDEX SEEK q:HwQuery(key)
WHERE q.key > '' AND q.tenant = $given.tenant AND q.last_batch IS NOT NULL AND q.last_seen >= $given.since
CALL (q) {
  MATCH (s:HwSegment)
  USING INDEX SEEK s:HwSegment(query, start)
  WHERE s.query = q.key AND s.start >= 0
  RETURN s ORDER BY s.query DESC, s.start DESC LIMIT $given.looked_at
}
WITH q, s WHERE s.last_time >= $given.since
WITH q, collect(s) AS segments
WITH q, size(segments) = $given.looked_at AS cut,
  reduce(batches = [], s IN segments | batches + coalesce(s.failed, [])) AS batches
WHERE cut OR size(batches) > 0
RETURN q.key AS query, batches, cut ORDER BY query

// failed_checks: Runs with a failed assertion since a time, the latest first, with their jobs and what they read and wrote
MATCH (j:HwJob)
USING INDEX SEEK j:HwJob(key)
WHERE j.key > '' AND j.tenant = $given.tenant
CALL (j) {
  MATCH (r:HwRun)
  USING INDEX SEEK r:HwRun(_checked, last_seen)
  WHERE r._checked = j.key AND r.last_seen >= $given.since AND any(held IN r.quality_passed WHERE NOT held)
  RETURN r ORDER BY r._checked DESC, r.last_seen DESC LIMIT $given.limit
}
WITH j, r ORDER BY r.last_seen DESC, r.key LIMIT $given.limit
RETURN j {.key, .namespace, .name, .processing_type} AS job,
  [(r)-[u:CONSUMED|PRODUCED]->(d:HwDataset) | [type(u), coalesce(u.uncommitted, false),
    d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type}]] AS uses,
  coalesce(r.started_at, r.first_seen) AS began, coalesce(r.ended_at, r.last_seen) AS ended, r.last_seen AS seen,
  r {.run_id, .quality_assertions, .quality_passed, .quality_columns, .quality_values, .quality_namespaces, .quality_datasets,
    .quality_rules, .quality_severities, .quality_suites, .quality_suite_versions} AS run
ORDER BY r.last_seen DESC, r.key

// failed_runs: Runs that failed or were aborted since a time, the latest first, and are known to have committed something
UNWIND $given.states AS state
CALL (state) {
  MATCH (r:HwRun)
  USING INDEX SEEK r:HwRun(state, last_seen)
  WHERE r.state = state AND r.last_seen >= $given.since AND r.tenant = $given.tenant
    AND coalesce(r.inferred_state, r.state) IN ['FAIL', 'ABORT']
  RETURN r
}
MATCH (r)-[u:PRODUCED]->(d:HwDataset)
WHERE u.uncommitted IS NULL AND coalesce(r.publication, '') <> 'UNPUBLISHED'
  AND (r.publication IN ['PARTIAL', 'PUBLISHED'] OR u.position IS NOT NULL OR u.rows > 0 OR u.files > 0 OR u.bytes > 0)
WITH r, collect([u.snapshot_id, d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type}]) AS outputs
RETURN r.run_id AS run_id, r.query_id AS query, r.job_namespace AS namespace, r.job_name AS name,
  coalesce(r.inferred_state, r.state) AS state, coalesce(r.ended_at, r.inferred_ended_at, r.last_seen) AS at, outputs
ORDER BY r.last_seen DESC, r.key LIMIT $given.limit

// of_causes: Incidents of some causes
UNWIND $given.causes AS cause
MATCH (n:HwIncident)
USING INDEX SEEK n:HwIncident(cause)
WHERE n.cause = cause AND n.tenant = $given.tenant
RETURN n {.*} AS properties ORDER BY n.key

// passed_before: When the assertions of some datasets passed last in earlier runs of a job, among its latest runs with assertions
UNWIND $given.wants AS want
CALL (want) {
  MATCH (r:HwRun)
  USING INDEX SEEK r:HwRun(_checked, last_seen)
  WHERE r._checked = want.job AND r.last_seen < want.before
  WITH r ORDER BY r._checked DESC, r.last_seen DESC LIMIT $given.looked_at
  WHERE any(n IN range(0, size(r.quality_passed) - 1) WHERE r.quality_passed[n] AND r.quality_assertions[n] = want.assertion
    AND coalesce(r.quality_columns[n], '') = want.column AND coalesce(r.quality_datasets[n], '') = want.name
    AND coalesce(r.quality_namespaces[n], '') = want.namespace)
  RETURN coalesce(r.started_at, r.first_seen) AS at LIMIT 1
}
RETURN want.n AS n, at ORDER BY n

// promised: Datasets for which a freshness is declared, of themselves or of a consumer that reads them
MATCH (x:HwDeclaration)
USING INDEX SEEK x:HwDeclaration(key)
WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.freshness_seconds IS NOT NULL
  AND x.subject_type IN ['dataset', 'consumer']
MATCH (x)-[:DECLARES]->(s:HwDataset|HwConsumer)
CALL (s) {
  WITH s WHERE s:HwDataset
  RETURN s AS d
  UNION
  MATCH (s)-[:CONSUMES]->(d:HwDataset)
  RETURN d
  UNION
  MATCH (s)-[:CONSUMES]->(:HwColumn)<-[:HAS_COLUMN]-(d:HwDataset)
  RETURN d
}
RETURN DISTINCT s.key AS subject, CASE WHEN s:HwConsumer THEN s.name END AS consumer, id(d) AS node,
  d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS dataset
ORDER BY dataset.key, subject

// queries: Names of streaming queries, and their jobs
UNWIND $given.queries AS key
MATCH (q:HwQuery {key: key})
OPTIONAL MATCH (q)-[:OF]->(j:HwJob)
WITH q, j ORDER BY q.key, j.key
WITH q, collect(j)[0] AS j
RETURN q.key AS query, q.query_id AS query_id, q.query_name AS query_name, j.namespace AS namespace, j.name AS name ORDER BY query
