// claimed: Versions of a dataset written by runs or micro-batches that were seen at a time or later
MATCH (d:HwDataset {key: $given.dataset})<-[:OF]-(v:HwVersion)<-[:WROTE]-(p)
USING INDEX d:HwDataset(key)
WHERE p.last_seen >= $given.since
RETURN DISTINCT v.version AS version

// open_writes: Batch writes without an end that were announced while they ran, with their announced outputs
MATCH (r:HwRun)
USING INDEX r:HwRun(open, last_seen)
WHERE r.open = true AND r.last_seen < $given.before AND r.tenant = $given.tenant AND $given.facet IN r.facet_names
RETURN r {.run_id, .job_namespace, .job_name, .started_at, .last_seen, .parent_run_id, .parent_job_namespace, .parent_job_name} AS run,
  head([i IN range(0, size(r.facet_names) - 1) WHERE r.facet_names[i] = $given.facet | r.facets[i]]) AS facet,
  [i IN range(0, size(r.facet_names) - 1) WHERE r.facet_names[i] = 'headwater_heartbeat' | r.facets[i]] AS heartbeat,
  COLLECT { MATCH (r)-[:CONSUMED]->(d:HwDataset) WITH DISTINCT d ORDER BY d.key RETURN [d.namespace, d.name] } AS reads
ORDER BY r.last_seen, r.key

// query: A streaming query: its jobs, the datasets of its micro-batches, and the sinks that its starts reported
MATCH (q:HwQuery {key: $given.query}) WHERE q.tenant = $given.tenant
RETURN
  COLLECT { MATCH (q)-[:OF]->(j:HwJob) RETURN [j.namespace, j.name] ORDER BY j.key } AS jobs,
  COLLECT { MATCH (q)-[:READS]->(d:HwDataset) RETURN [d.namespace, d.name] ORDER BY d.key } AS reads,
  COLLECT { MATCH (q)-[:WRITES]->(d:HwDataset) RETURN [d.namespace, d.name] ORDER BY d.key } AS writes,
  COLLECT {
    MATCH (q)<-[:IN_QUERY]-(r:HwRun)
    RETURN DISTINCT coalesce(
      head([i IN range(0, size(coalesce(r.facet_names, [])) - 1) WHERE r.facet_names[i] = $given.sink_facet | r.facets[i]]),
      '{}'
    )
  } AS sinks,
  q.query_name AS name
