// Streaming queries by id or name
MATCH (q:Query)
WHERE q.tenant = $tenant AND (q.query_id = $name OR q.name = $name OR q.query_name = $name)
RETURN q.key AS key, q.query_id AS query_id, q.name AS name ORDER BY key
