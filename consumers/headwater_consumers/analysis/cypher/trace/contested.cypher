// Batches of some queries of which other positions were reported, too
UNWIND $given.queries AS query
CALL (query) {
  MATCH (s:HwSegment)
  USING INDEX s:HwSegment(_contested, start)
  WHERE s._contested = query AND s.start >= 0
  RETURN s ORDER BY s._contested, s.start LIMIT $given.limit
}
RETURN query, s.contested AS batches
