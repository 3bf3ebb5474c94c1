// Jobs of which a plan became active, or was seen anew, between two times
MATCH (p:Plan)
WHERE p.tenant = $tenant AND p.last_seen > $since AND p.first_seen <= $until
WITH p WHERE p.first_seen > $since OR EXISTS { (p)<-[u:USED]-() WHERE u.first_seen > $since AND u.first_seen <= $until }
MATCH (p)-[:OF]->(j:Job)
WITH DISTINCT j ORDER BY j.key LIMIT $limit
RETURN j {.key, .namespace, .name, .processing_type} AS job
