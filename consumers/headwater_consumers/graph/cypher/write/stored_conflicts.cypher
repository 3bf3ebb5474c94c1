// The conflicts of intervals, to be joined
UNWIND $keys AS key
MATCH (n:Conflict)-[:CONFLICTS_WITH]->(i:Interval {key: key})
RETURN collect([
  i.key,
  n {.*,
    processing_time: n.processing_time.epochSeconds * 1000000 + n.processing_time.microsecond,
    watermark_before: n.watermark_before.epochSeconds * 1000000 + n.watermark_before.microsecond,
    watermark_after: n.watermark_after.epochSeconds * 1000000 + n.watermark_after.microsecond},
  [(n)-[r:CONSUMED|PRODUCED]->(d:Dataset) | [type(r), d.key, properties(r)]]]) AS found
