// Streaming queries by id or name
MATCH (q:HwQuery)
WHERE q.tenant = $given.tenant AND (q.query_id = $given.name OR q.name = $given.name OR q.query_name = $given.name)
RETURN q.key AS key, q.query_id AS query_id, q.name AS name ORDER BY key
