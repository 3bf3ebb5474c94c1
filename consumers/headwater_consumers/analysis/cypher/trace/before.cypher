// The last intervals of queries before a batch, the latest first, with what it read and wrote
UNWIND $given.stretches AS stretch
CALL (stretch) {
  MATCH (i:Interval)
  WHERE i.query = stretch.query AND i.batch_id < stretch.first
  RETURN i ORDER BY i.query DESC, i.batch_id DESC LIMIT $given.limit
}
RETURN stretch.n AS n, 'Interval' AS label, i {.*} AS properties,
  [(i)-[r:CONSUMED|PRODUCED]->(d:Dataset) | [type(r), d.key, r {.*}]] AS uses
