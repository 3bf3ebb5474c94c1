// Segments that are there: what is plain to see, the open block or else the last, and some of the closed ones
UNWIND $batch.rows AS row
MATCH (n:Segment {key: row.key})
RETURN collect([
  n.key,
  n {.batches, .first_batch, .last_batch, .timed, .contested, .broken, .missing, .gaps, .overlaps, .rewinds, .failed, .last_passed, ._open, ._head, ._tail, ._last,
    first_time: n.first_time.epochMillis * 1000 + n.first_time.microsecond % 1000,
    last_time: n.last_time.epochMillis * 1000 + n.last_time.microsecond % 1000},
  [number IN row.blocks + CASE WHEN n._open IS NULL THEN [(n.last_batch - row.start) / row.places] ELSE [] END |
    [number, n['_block_' + number]]],
  [(n)-[r:IN_RUN]->(x:Run) | [x.key, r.batches]],
  [(n)-[r:CONSUMED|PRODUCED]->(d:Dataset) | [type(r), d.key, properties(r)]],
  EXISTS { (n)-[:NEXT]->() }]) AS found
