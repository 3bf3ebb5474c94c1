// The first micro-batch by query and batch id that is a node of its own; others that migrate wait here
MATCH (v:HeadwaterGraph {id: 1})
SET v.version = v.version
WITH v
MATCH (n:Interval)
WHERE n.query >= ''
RETURN n.tenant AS tenant, n.query_id AS query_id, n.query AS query, n.batch_id AS batch_id
ORDER BY n.query, n.batch_id LIMIT 1
