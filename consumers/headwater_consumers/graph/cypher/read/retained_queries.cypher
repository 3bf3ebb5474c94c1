// Queries in the scope of a retention
MATCH (q:Query)
WHERE EXISTS { (r:Retention) WHERE r.tenant = q.tenant }
RETURN q.key AS key ORDER BY key
