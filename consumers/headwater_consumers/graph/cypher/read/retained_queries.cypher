// Queries in the scope of a retention
MATCH (q:HwQuery)
WHERE EXISTS { (r:HwRetention) WHERE r.tenant = q.tenant }
RETURN q.key AS key ORDER BY key
