// The segments next to others in their query, and some of those themselves, with all of their blocks
UNWIND $batch.rows AS row
CALL (row) {
  WITH row WHERE 'before' IN row.sides
  MATCH (n:HwSegment)
  WHERE n.query = row.query AND n.start < row.start
  RETURN n ORDER BY n.query DESC, n.start DESC LIMIT 1
  UNION
  WITH row WHERE 'self' IN row.sides
  MATCH (n:HwSegment)
  WHERE n.query = row.query AND n.start = row.start
  RETURN n
  UNION
  WITH row WHERE 'after' IN row.sides
  MATCH (n:HwSegment)
  WHERE n.query = row.query AND n.start > row.start
  RETURN n ORDER BY n.query, n.start LIMIT 1
}
RETURN collect([
  n {.tenant, .query_id, .query, .start, .batches, .first_batch, .last_batch, .timed, .contested, .broken, .missing, .gaps,
    .overlaps, .rewinds, .failed, .reconciled, .late, .late_rows, .last_passed, ._broken, ._rewinds, ._open, ._head, ._tail, ._last,
    ._block_0, ._block_1, ._block_2, ._block_3, ._block_4, ._block_5, ._block_6, ._block_7,
    first_time: n.first_time.epochMillis * 1000 + n.first_time.microsecond % 1000,
    last_time: n.last_time.epochMillis * 1000 + n.last_time.microsecond % 1000},
  [(n)-[r:IN_RUN]->(x:HwRun) | [x.key, r.batches]],
  [(n)-[r:CONSUMED|PRODUCED]->(d:HwDataset) | [
    type(r), d.key, r {.ordinal, .batches, .positions, .partitions, .from, .to_exclusive, ._marks}, []]]]) AS found
