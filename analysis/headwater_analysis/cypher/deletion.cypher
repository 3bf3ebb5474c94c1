// downstream: Datasets derived from these datasets in one hop
UNWIND $given.nodes AS node
MATCH (a)-[:GOES_INTO*0..1]->()-[f:FEEDS]->(b) WHERE id(a) = node
WITH node, b, f ORDER BY b.key, f.key
RETURN collect(node) AS asked, collect(id(b)) AS found, collect(id(f)) AS edges

// incomplete: Jobs with incomplete column lineage: reasons, whether their inputs are known, and whether they use some given datasets
MATCH (j:HwJob)
USING INDEX SEEK j:HwJob(key)
WHERE j.key > '' AND j.tenant = $given.tenant AND EXISTS { (j)-[:WRITES {observed: true}]->() }
CALL (j) {
  OPTIONAL MATCH (p:HwPlan)-[:OF]->(j) WHERE p.last_seen IS NOT NULL
  WITH p ORDER BY p.last_seen DESC, p.key
  WITH collect(p) AS plans
  RETURN [n IN range(0, size(plans) - 1) WHERE n = 0 OR plans[n].last_seen >= $given.since | plans[n]] AS plans
}
WITH j, size(plans) AS known, [p IN plans WHERE coalesce(p.complete, false) = false | coalesce(p.incomplete_reason, '')] AS reasons
WHERE known = 0 OR size(reasons) > 0
RETURN j {.key, .namespace, .name, .processing_type} AS job, reasons,
  EXISTS { (j)-[:READS {observed: true}]->() } AS reads,
  EXISTS { MATCH (j)-[:READS|WRITES]->(d:HwDataset) WHERE d.key IN $given.near } AS near
ORDER BY j.key

// outputs: Datasets that jobs write
UNWIND $given.jobs AS job
MATCH (j:HwJob {key: job})-[:WRITES]->(d:HwDataset)
RETURN job, collect(DISTINCT [d.key, id(d)]) AS datasets

// queries: Streaming queries that read a dataset by any of its names
MATCH (q:HwQuery)-[r:READS]->(d:HwDataset)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key IN $given.keys
OPTIONAL MATCH (q)-[:OF]->(j:HwJob)
WITH q, max(r.last_seen) AS last_seen, head(collect(DISTINCT j)) AS j
RETURN q.query_id AS query_id, q.query_name AS query_name, q.checkpoint_location AS checkpoint, last_seen,
  j {.key, .namespace, .name, .processing_type} AS job
ORDER BY q.key

// upstream: Datasets from which these datasets are derived in one hop
UNWIND $given.nodes AS node
MATCH (a:HwDataset)-[:GOES_INTO*0..1]->()-[f:FEEDS]->(b) WHERE id(b) = node
WITH node, a, f ORDER BY a.key, f.key
RETURN collect(node) AS asked, collect(id(a)) AS found, collect(id(f)) AS edges

// versions: Versions of a dataset by version or prefix, with their readers, and whether a later version is known
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
