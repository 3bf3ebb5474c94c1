// Segments of queries from a batch on, with the blocks from the first of these batches on
UNWIND $given.stretches AS stretch
CALL (stretch) {
  MATCH (s:HwSegment)
  WHERE s.query = stretch.query AND s.start > stretch.first - $given.size AND s.start <= stretch.last
    AND s.last_batch >= stretch.first
    AND (stretch.begin IS NULL OR s.last_time >= stretch.begin) AND (stretch.end IS NULL OR s.first_time < stretch.end)
  RETURN s ORDER BY s.query, s.start LIMIT $given.segments
}
WITH stretch, s, CASE WHEN s.first_batch > stretch.first THEN s.first_batch ELSE stretch.first END AS first
WITH stretch, s, (first - s.start) / $given.places AS block
RETURN stretch.n AS n, block,
  s {.tenant, .query, .query_id, .start, ._open, ._head, ._tail, ._last} AS properties,
  [number IN range(block, block + $given.blocks - 1) | [number, s['_block_' + number]]] AS blocks
ORDER BY n, s.start
