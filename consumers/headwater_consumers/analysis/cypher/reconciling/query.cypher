// One streaming query: its jobs, the datasets its micro-batches read and wrote, and what its starts reported of their sinks
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
