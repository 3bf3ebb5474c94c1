// Queries of which some micro-batches aren't kept one by one
MATCH (q:HwQuery)
WHERE q.key IN $given.queries AND q._retired IS NOT NULL
RETURN q.key AS query, q._retired AS retired
