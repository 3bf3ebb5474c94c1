// A version of a dataset by its name or how that begins, who reads it, and whether a later one is known
MATCH (d:HwDataset)<-[:OF]-(v:HwVersion) WHERE d.key IN $given.keys AND v.version STARTS WITH $given.version
WITH DISTINCT v ORDER BY size(v.version), v.key LIMIT $given.most
CALL (v) {
  OPTIONAL MATCH (v)<-[w:WROTE]-(p)
  RETURN min(coalesce(p.ended_at, w.first_time, p.last_seen)) AS made
}
RETURN v {.key, .version, .format} AS version,
  COLLECT {
    MATCH (v)<-[:READ]-(r:HwRun)
    WITH coalesce(r.job_namespace, '') AS namespace, coalesce(r.job_name, r.run_id) AS name,
      max(coalesce(r.ended_at, r.last_seen)) AS at
    RETURN {namespace: namespace, name: name, at: at} ORDER BY namespace, name
  } AS runs,
  COLLECT {
    MATCH (v)<-[r:READ]-(s:HwSegment)-[:IN_QUERY]->(:HwQuery)-[:OF]->(j:HwJob)
    WITH j, max(coalesce(s.last_time, r.first_time)) AS at
    RETURN {namespace: j.namespace, name: j.name, at: at} ORDER BY j.key
  } AS batches,
  made IS NOT NULL AND EXISTS {
    MATCH (d:HwDataset)<-[:OF]-(other:HwVersion)<-[w:WROTE]-(p)
    WHERE d.key IN $given.keys AND other.key <> v.key AND coalesce(p.ended_at, w.first_time, p.last_seen) > made
  } AS superseded
ORDER BY size(version.version), version.key
