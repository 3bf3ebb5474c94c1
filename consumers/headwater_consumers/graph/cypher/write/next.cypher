// NEXT between segments that are next to each other now; what left the first before goes
UNWIND $batch.rows AS row
MATCH (a:HwSegment {key: row[0]})
MATCH (b:HwSegment {key: row[1]})
CALL (a) {
  MATCH (a)-[r:NEXT]->()
  DELETE r
}
CREATE (a)-[:NEXT]->(b)
