// Segments of queries before a batch, the latest first, with the blocks up to the last of these batches
UNWIND $given.stretches AS stretch
CALL (stretch) {
  MATCH (s:HwSegment)
  WHERE s.query = stretch.query AND s.start <= stretch.last AND s.start > stretch.first - $given.size
    AND s.first_batch <= stretch.last
    AND (stretch.begin IS NULL OR s.last_time >= stretch.begin) AND (stretch.end IS NULL OR s.first_time < stretch.end)
  RETURN s ORDER BY s.query DESC, s.start DESC LIMIT $given.segments
}
WITH stretch, s, CASE WHEN s.last_batch < stretch.last THEN s.last_batch ELSE stretch.last END AS last
WITH stretch, s, (last - s.start) / $given.places AS block
RETURN stretch.n AS n, block,
  s {.tenant, .query, .query_id, .start, ._open, ._head, ._tail, ._last} AS properties,
  [number IN range(block - $given.blocks + 1, block) | [number, s['_block_' + number]]] AS blocks
ORDER BY n, s.start DESC
