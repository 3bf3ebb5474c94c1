// Summaries that are there
UNWIND $batch.rows AS key
MATCH (n:HwSummary {key: key})
RETURN collect([
  n {.*,
    first_time: n.first_time.epochMillis * 1000 + n.first_time.microsecond % 1000,
    last_time: n.last_time.epochMillis * 1000 + n.last_time.microsecond % 1000},
  head([(n)-[:IN_RUN]->(x:HwRun) | x.key]),
  [(n)-[r:CONSUMED|PRODUCED]->(d:HwDataset) | [type(r), d.key, properties(r)]]]) AS found
