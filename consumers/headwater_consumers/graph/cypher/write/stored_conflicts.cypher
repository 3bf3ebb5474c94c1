// The conflicts of intervals, to be joined
UNWIND $batch.keys AS key
MATCH (n:Conflict)-[:CONFLICTS_WITH]->(i:Interval {key: key})
RETURN collect([
  i.key,
  n {.*,
    processing_time: n.processing_time.epochMillis * 1000 + n.processing_time.microsecond % 1000,
    watermark_before: n.watermark_before.epochMillis * 1000 + n.watermark_before.microsecond % 1000,
    watermark_after: n.watermark_after.epochMillis * 1000 + n.watermark_after.microsecond % 1000},
  [(n)-[r:CONSUMED|PRODUCED]->(d:Dataset) | [type(r), d.key, properties(r)]]]) AS found
