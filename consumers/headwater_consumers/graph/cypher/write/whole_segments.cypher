// Segments with all of their blocks
UNWIND $batch.rows AS key
MATCH (n:HwSegment {key: key})
RETURN collect([
  n.key,
  n {.*,
    first_time: n.first_time.epochMillis * 1000 + n.first_time.microsecond % 1000,
    last_time: n.last_time.epochMillis * 1000 + n.last_time.microsecond % 1000},
  [(n)-[r:IN_RUN]->(x:HwRun) | [x.key, r.batches]],
  [(n)-[r:CONSUMED|PRODUCED]->(d:HwDataset) | [type(r), d.key, properties(r), []]]]) AS found
