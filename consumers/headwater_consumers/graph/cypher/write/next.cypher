// NEXT between neighbours; what left them before goes
CALL () { UNWIND $batch.intervals AS key OPTIONAL MATCH (x:Interval {key: key}) RETURN collect([x]) AS intervals }
CALL (intervals) {
  UNWIND $batch.stale AS at
  UNWIND intervals[at] AS a
  MATCH (a)-[r:NEXT]->()
  DELETE r
}
UNWIND $batch.rows AS row
UNWIND intervals[row[0]] AS a
UNWIND intervals[row[1]] AS b
CREATE (a)-[r:NEXT]->(b)
SET r = row[2]
