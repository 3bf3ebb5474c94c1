// Jobs with incomplete column lineage: why, whether it is known what they read, and whether they touch some datasets
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
