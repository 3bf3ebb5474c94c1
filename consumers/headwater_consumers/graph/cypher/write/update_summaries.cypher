// Summaries that are new or changed, with what leaves them
UNWIND $batch.rows AS row
MERGE (n:HwSummary {key: row.key})
SET n += row.properties
WITH n, row
CALL (n, row) {
  MATCH (q:HwQuery {key: row.query})
  MERGE (n)-[:IN_QUERY]->(q)
}
CALL (n, row) {
  UNWIND row.runs AS key
  MATCH (x:HwRun {key: key})
  MERGE (n)-[:IN_RUN]->(x)
}
CALL (n, row) {
  UNWIND row.consumed AS use
  MATCH (d:HwDataset {key: use.to})
  MERGE (n)-[r:CONSUMED {key: use.key}]->(d)
  SET r = use.properties
}
CALL (n, row) {
  UNWIND row.produced AS use
  MATCH (d:HwDataset {key: use.to})
  MERGE (n)-[r:PRODUCED {key: use.key}]->(d)
  SET r = use.properties
}
