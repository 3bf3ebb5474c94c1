// What new declarations declare
CALL () {
  UNWIND $batch.datasets AS row
  MATCH (a:HwDeclaration {key: row.start})
  MATCH (b:HwDataset {key: row.end})
  CREATE (a)-[:DECLARES]->(b)
}
CALL () {
  UNWIND $batch.jobs AS row
  MATCH (a:HwDeclaration {key: row.start})
  MATCH (b:HwJob {key: row.end})
  CREATE (a)-[:DECLARES]->(b)
}
CALL () {
  UNWIND $batch.consumers AS row
  MATCH (a:HwDeclaration {key: row.start})
  MATCH (b:HwConsumer {key: row.end})
  CREATE (a)-[:DECLARES]->(b)
}
CALL () {
  UNWIND $batch.columns AS row
  MATCH (a:HwDeclaration {key: row.start})
  MATCH (b:HwColumn {key: row.end})
  CREATE (a)-[r:DECLARES]->(b)
  SET r = row.properties
}
