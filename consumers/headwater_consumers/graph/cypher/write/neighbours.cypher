// The intervals next to a stretch of batches, on either side
UNWIND $batch.rows AS row
CALL (row) {
  MATCH (n:Interval)
  WHERE n.query = row.query AND n.batch_id < row.first
  RETURN n ORDER BY n.query DESC, n.batch_id DESC LIMIT 1
  UNION ALL
  MATCH (n:Interval)
  WHERE n.query = row.query AND n.batch_id > row.last
  RETURN n ORDER BY n.query, n.batch_id LIMIT 1
}
RETURN collect([
  n.query, n.batch_id, n.key,
  [(n)-[r:CONSUMED|PRODUCED]->(d:Dataset) | [type(r), d.key, properties(r)]]]) AS found
