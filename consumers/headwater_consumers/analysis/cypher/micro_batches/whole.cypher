// Segments of queries with all of their blocks
UNWIND $given.stretches AS stretch
MATCH (s:HwSegment)
WHERE s.query = stretch.query AND s.start > stretch.first - $given.size AND s.start <= stretch.last
RETURN s {.tenant, .query, .query_id, .start, .first_batch, .last_batch, ._open, ._head, ._tail, ._last, ._block_0, ._block_1,
  ._block_2, ._block_3, ._block_4, ._block_5, ._block_6, ._block_7} AS properties
