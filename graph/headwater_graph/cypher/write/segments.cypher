// segments: Stored segments: summary, open block or else the last one, the blocks to change, lists that grow
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

// update_segments: New and changed segments, with their outgoing relationships
CALL () { UNWIND $batch.queries AS key OPTIONAL MATCH (x:HwQuery {key: key}) RETURN collect([x]) AS queries }
CALL () { UNWIND $batch.runs AS key OPTIONAL MATCH (x:HwRun {key: key}) RETURN collect([x]) AS runs }
CALL () { UNWIND $batch.datasets AS key OPTIONAL MATCH (x:HwDataset {key: key}) RETURN collect([x]) AS datasets }
CALL () { UNWIND $batch.versions AS key OPTIONAL MATCH (x:HwVersion {key: key}) RETURN collect([x]) AS versions }
UNWIND $batch.rows AS row
MERGE (n:HwSegment {key: row.key})
SET n += row.properties
FOREACH (at IN row.query | FOREACH (x IN queries[at] | CREATE (n)-[:IN_QUERY]->(x)))
FOREACH (of IN row.runs | FOREACH (x IN runs[of[0]] | MERGE (n)-[r:IN_RUN]->(x) SET r.batches = of[1]))
FOREACH (use IN row.consumed |
  FOREACH (x IN datasets[use.to] |
    MERGE (n)-[r:CONSUMED {key: use.key}]->(x) SET r += use.properties))
FOREACH (use IN row.produced |
  FOREACH (x IN datasets[use.to] |
    MERGE (n)-[r:PRODUCED {key: use.key}]->(x) SET r += use.properties))
FOREACH (of IN row.read |
  FOREACH (x IN versions[of[0]] |
    MERGE (n)-[r:READ]->(x)
    SET r.batches = coalesce(r.batches, []) + of[1],
      r.first_time = CASE WHEN of[2] < r.first_time OR r.first_time IS NULL THEN of[2] ELSE r.first_time END))
FOREACH (of IN row.wrote |
  FOREACH (x IN versions[of[0]] |
    MERGE (n)-[r:WROTE]->(x)
    SET r.batches = coalesce(r.batches, []) + of[1],
      r.first_time = CASE WHEN of[2] < r.first_time OR r.first_time IS NULL THEN of[2] ELSE r.first_time END))

// segments_beside: Segments next to others in their query, or these segments themselves, with all of their blocks
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

// whole_segments: Segments with all of their blocks
UNWIND $batch.rows AS key
MATCH (n:HwSegment {key: key})
RETURN collect([
  n.key,
  n {.*,
    first_time: n.first_time.epochMillis * 1000 + n.first_time.microsecond % 1000,
    last_time: n.last_time.epochMillis * 1000 + n.last_time.microsecond % 1000},
  [(n)-[r:IN_RUN]->(x:HwRun) | [x.key, r.batches]],
  [(n)-[r:CONSUMED|PRODUCED]->(d:HwDataset) | [type(r), d.key, properties(r), []]]]) AS found

// old_segments: First segments of a query with micro-batches before a time, each with the next segment and all blocks
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

// delete_segments: Delete segments
UNWIND $batch.rows AS key
MATCH (n:HwSegment {key: key})
DETACH DELETE n

// next: NEXT between segments that are neighbours now; the earlier NEXT of the first one is deleted
UNWIND $batch.rows AS row
MATCH (a:HwSegment {key: row[0]})
MATCH (b:HwSegment {key: row[1]})
CALL (a) {
  MATCH (a)-[r:NEXT]->()
  DELETE r
}
CREATE (a)-[:NEXT]->(b)

// summaries: Stored summaries
UNWIND $batch.rows AS key
MATCH (n:HwSummary {key: key})
RETURN collect([
  n {.*,
    first_time: n.first_time.epochMillis * 1000 + n.first_time.microsecond % 1000,
    last_time: n.last_time.epochMillis * 1000 + n.last_time.microsecond % 1000},
  head([(n)-[:IN_RUN]->(x:HwRun) | x.key]),
  [(n)-[r:CONSUMED|PRODUCED]->(d:HwDataset) | [type(r), d.key, properties(r)]]]) AS found

// update_summaries: New and changed summaries, with their outgoing relationships
UNWIND $batch.rows AS row
MERGE (n:HwSummary {key: row.key})
SET n += row.properties
WITH n, row
CALL (n, row) {
  MATCH (q:HwQuery {key: row.query})
  MERGE (n)-[:IN_QUERY]->(q)
}
CALL (n, row) {
  UNWIND row.runs AS key
  MATCH (x:HwRun {key: key})
  MERGE (n)-[:IN_RUN]->(x)
}
CALL (n, row) {
  UNWIND row.consumed AS use
  MATCH (d:HwDataset {key: use.to})
  MERGE (n)-[r:CONSUMED {key: use.key}]->(d)
  SET r = use.properties
}
CALL (n, row) {
  UNWIND row.produced AS use
  MATCH (d:HwDataset {key: use.to})
  MERGE (n)-[r:PRODUCED {key: use.key}]->(d)
  SET r = use.properties
}

// drop_summaries: Delete summaries of days for which nothing is kept
MATCH (n:HwSummary)
USING INDEX n:HwSummary(query, first_batch)
WHERE n.query = $batch.query AND n.first_batch >= 0 AND (n.day < $batch.before OR n.day IS NULL)
DETACH DELETE n
RETURN [count(*)] AS found
