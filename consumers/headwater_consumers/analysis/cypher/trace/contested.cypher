// Batches of some queries of which other positions were reported, too
UNWIND $given.queries AS query
CALL (query) {
  MATCH (s:Segment)
  WHERE s.query = query AND s.start >= 0 AND s.contested IS NOT NULL
  RETURN s ORDER BY s.query, s.start LIMIT $given.limit
}
RETURN s.query AS query, s.contested AS batches
