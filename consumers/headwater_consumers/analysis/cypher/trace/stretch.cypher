// Intervals of queries between two batches, with what they read and wrote
UNWIND $given.stretches AS stretch
CALL (stretch) {
  MATCH (i:Interval)
  WHERE i.query = stretch.query AND i.batch_id >= stretch.first AND i.batch_id <= stretch.last
  RETURN i ORDER BY i.query, i.batch_id LIMIT $given.limit
}
RETURN stretch.n AS n, 'Interval' AS label, i {.*} AS properties,
  [(i)-[r:CONSUMED|PRODUCED]->(d:Dataset) | [type(r), d.key, r {.*}]] AS uses
