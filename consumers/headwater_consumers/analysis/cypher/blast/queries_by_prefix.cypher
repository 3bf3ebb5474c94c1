// Streaming queries whose ids begin so
MATCH (q:HwQuery)
WHERE q.tenant = $given.tenant AND any(prefix IN $given.prefixes WHERE q.query_id STARTS WITH prefix)
RETURN q.key AS key, q.query_id AS query_id ORDER BY query_id LIMIT $given.limit
