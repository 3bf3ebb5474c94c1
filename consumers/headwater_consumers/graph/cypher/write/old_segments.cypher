// The first segments of a query with micro-batches before a time, each with the one behind it, with all of their blocks
CALL () {
  MATCH (n:HwSegment)
  USING INDEX n:HwSegment(query, start)
  WHERE n.query = $batch.query AND n.start >= 0 AND n.first_time < $batch.before
  RETURN n ORDER BY n.query, n.start LIMIT $batch.limit
}
WITH n
OPTIONAL MATCH (n)-[:NEXT]->(m:HwSegment)
WITH collect(n) + collect(m) AS both
UNWIND both AS s
WITH DISTINCT s ORDER BY s.start
RETURN collect(s {.key, .tenant, .query_id, .query, .start, ._open, ._head, ._tail, ._last,
  ._block_0, ._block_1, ._block_2, ._block_3, ._block_4, ._block_5, ._block_6, ._block_7}) AS found
