// Queries of which some micro-batches aren't kept one by one
MATCH (q:Query)
WHERE q._retired IS NOT NULL
RETURN q.key AS key
