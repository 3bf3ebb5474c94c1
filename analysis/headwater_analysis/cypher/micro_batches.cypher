// before: Segments of queries before a batch, the latest first, with the blocks up to this batch
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

// datasets: Datasets that micro-batches used, for their names
UNWIND $given.keys AS key
MATCH (d:HwDataset {key: key})
RETURN d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS properties

// from: Segments of queries from a batch on, with the blocks from this batch on
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

// retired: Queries with micro-batches that aren't stored individually
MATCH (q:HwQuery)
WHERE q.key IN $given.queries AND q._retired IS NOT NULL
RETURN q.key AS query, q._retired AS retired

// whole: Segments of queries with all of their blocks
UNWIND $given.stretches AS stretch
MATCH (s:HwSegment)
WHERE s.query = stretch.query AND s.start > stretch.first - $given.size AND s.start <= stretch.last
RETURN s {.tenant, .query, .query_id, .start, .first_batch, .last_batch, ._open, ._head, ._tail, ._last, ._block_0, ._block_1,
  ._block_2, ._block_3, ._block_4, ._block_5, ._block_6, ._block_7} AS properties
