// Batch writes without an end that were announced while they ran, with what they were to write
MATCH (r:HwRun)
USING INDEX r:HwRun(open, last_seen)
WHERE r.open = true AND r.last_seen < $given.before AND r.tenant = $given.tenant AND $given.facet IN r.facet_names
RETURN r {.run_id, .job_namespace, .job_name, .started_at, .last_seen, .parent_run_id, .parent_job_namespace, .parent_job_name} AS run,
  head([i IN range(0, size(r.facet_names) - 1) WHERE r.facet_names[i] = $given.facet | r.facets[i]]) AS facet,
  [i IN range(0, size(r.facet_names) - 1) WHERE r.facet_names[i] = 'headwater_heartbeat' | r.facets[i]] AS heartbeat,
  COLLECT { MATCH (r)-[:CONSUMED]->(d:HwDataset) WITH DISTINCT d ORDER BY d.key RETURN [d.namespace, d.name] } AS reads
ORDER BY r.last_seen, r.key
