// Streaming queries of a run
MATCH (r:HwRun {key: $given.of})-[:IN_QUERY]->(q:HwQuery)
RETURN q.key AS key, q.query_id AS query_id, coalesce(r.first_batch, q.first_batch) AS first, coalesce(r.last_batch, q.last_batch) AS last ORDER BY q.key
