// Queries of which some micro-batches aren't kept one by one
MATCH (q:HwQuery)
WHERE q._retired IS NOT NULL
RETURN q.key AS key
