// Segments that are there: what is plain to see, the open block or else the last, some of the closed ones, growing lists
UNWIND $batch.rows AS row
MATCH (n:HwSegment {key: row.key})
WITH n, row, '_' + toString((n.last_batch - row.start) / row.places) AS part,
  row.last / row.tail > n.last_batch / row.tail OR row.first / row.tail < n.last_batch / row.tail AS rolls
RETURN collect([
  n.key,
  n {.batches, .first_batch, .last_batch, .timed, .contested, .broken, .missing, .gaps, .overlaps, .rewinds, .failed,
    .reconciled, .late, .late_rows, .last_passed, ._broken, ._rewinds, ._open, ._head, ._tail, ._last,
    .batch_ids_tail, .processing_times_tail, .durations_ms_tail, .rows_in_tail,
    first_time: n.first_time.epochMillis * 1000 + n.first_time.microsecond % 1000,
    last_time: n.last_time.epochMillis * 1000 + n.last_time.microsecond % 1000},
  [name IN [block IN row.blocks + CASE WHEN n._open IS NULL THEN [(n.last_batch - row.start) / row.places] ELSE [] END
    | '_block_' + block]
    + CASE WHEN rolls THEN [name IN ['batch_ids', 'processing_times', 'durations_ms', 'rows_in'] | name + part] ELSE [] END |
    [name, n[name]]],
  [(n)-[r:IN_RUN]->(x:HwRun) | [x.key, r.batches]],
  [(n)-[r:CONSUMED|PRODUCED]->(d:HwDataset) | [
    type(r), d.key,
    r {.ordinal, .batches, .positions, .partitions, .from, .to_exclusive, ._marks, .from_tail, .ends_tail, .starts_tail},
    CASE WHEN rolls THEN [name IN ['from', 'ends', 'starts'] | [name + part, r[name + part]]] ELSE [] END]],
  EXISTS { (n)-[:NEXT]->() }]) AS found
