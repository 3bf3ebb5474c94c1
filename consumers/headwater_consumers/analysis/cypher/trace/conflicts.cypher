// What was reported of batches of some queries before other positions won
UNWIND $given.queries AS query
CALL (query) {
  MATCH (i:Conflict)
  USING INDEX i:Conflict(query, batch_id)
  WHERE i.query = query AND i.batch_id >= 0
  RETURN i ORDER BY i.query, i.batch_id LIMIT $given.limit
}
RETURN 0 AS n, 'Conflict' AS label, i {.*} AS properties,
  [(i)-[r:CONSUMED|PRODUCED]->(d:Dataset) | [type(r), d.key, r {.*}]] AS uses
