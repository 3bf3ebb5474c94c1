// Jobs of which a plan became active, or was seen anew, between two times
MATCH (p:HwPlan)
USING SCAN p:HwPlan
WHERE p.tenant = $given.tenant AND p.last_seen > $given.since AND p.first_seen <= $given.until
WITH p WHERE p.first_seen > $given.since OR EXISTS { (p)<-[u:USED]-() WHERE u.first_seen > $given.since AND u.first_seen <= $given.until }
MATCH (p)-[:OF]->(j:HwJob)
WITH DISTINCT j ORDER BY j.key LIMIT $given.limit
RETURN j {.key, .namespace, .name, .processing_type} AS job
