// Micro-batches of a query that are nodes of their own, with their conflicts and what they used
MATCH (i:Interval)
WHERE i.query = $query AND $first <= i.batch_id <= $last
CALL (i) {
  RETURN i AS n
  UNION
  MATCH (n:Conflict)-[:CONFLICTS_WITH]->(i)
  RETURN n
}
RETURN i.batch_id AS batch_id,
  n {.*,
    processing_time: n.processing_time.epochMillis * 1000 + n.processing_time.microsecond % 1000,
    watermark_before: n.watermark_before.epochMillis * 1000 + n.watermark_before.microsecond % 1000,
    watermark_after: n.watermark_after.epochMillis * 1000 + n.watermark_after.microsecond % 1000} AS properties,
  [(n)-[r:CONSUMED|PRODUCED]->(d:Dataset) | [type(r), d.key, properties(r)]] AS uses,
  [(n)-[:CONSUMED|PRODUCED]->(d:Dataset) | [d.key, d.namespace, d.name]] AS names
ORDER BY batch_id
