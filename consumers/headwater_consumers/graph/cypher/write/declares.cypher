// What new declarations declare
CALL () {
  UNWIND $batch.datasets AS row
  MATCH (a:Declaration {key: row.start})
  MATCH (b:Dataset {key: row.end})
  CREATE (a)-[:DECLARES]->(b)
}
CALL () {
  UNWIND $batch.jobs AS row
  MATCH (a:Declaration {key: row.start})
  MATCH (b:Job {key: row.end})
  CREATE (a)-[:DECLARES]->(b)
}
CALL () {
  UNWIND $batch.consumers AS row
  MATCH (a:Declaration {key: row.start})
  MATCH (b:Consumer {key: row.end})
  CREATE (a)-[:DECLARES]->(b)
}
CALL () {
  UNWIND $batch.columns AS row
  MATCH (a:Declaration {key: row.start})
  MATCH (b:Column {key: row.end})
  CREATE (a)-[r:DECLARES]->(b)
  SET r = row.properties
}
