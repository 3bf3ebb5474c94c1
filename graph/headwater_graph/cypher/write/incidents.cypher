// incidents: Incidents: create the new ones, lock the others and return their logs
UNWIND $batch.rows AS row
MERGE (n:HwIncident {key: row.key})
  ON CREATE SET n = row
  ON MATCH SET n._l = true
RETURN collect(n {.key, ._entries, ._reached}) AS found

// update_incidents: Incidents with new entries in their logs
UNWIND $batch.rows AS row
MATCH (n:HwIncident {key: row.key})
SET n += row.properties

// concerned_before: Nodes that incidents no longer concern
UNWIND $batch.rows AS row
MATCH (n:HwIncident {key: row.key})-[r:CONCERNS]->(m)
USING INDEX SEEK n:HwIncident(key)
WHERE m.key IN row.ends
DELETE r

// reached_before: Datasets that the latest REACHED of incidents no longer names
UNWIND $batch.rows AS row
MATCH (n:HwIncident {key: row.key})-[r:REACHED]->(m)
USING INDEX SEEK n:HwIncident(key)
WHERE m.key IN row.ends
DELETE r

// reached: Datasets that incidents reached, by their latest REACHED
UNWIND $batch.rows AS row
MATCH (a:HwIncident {key: row.start})
MATCH (b:HwDataset {key: row.end})
MERGE (a)-[r:REACHED]->(b)
SET r = row.properties

// concerns: Nodes that incidents concern now
CALL () {
  UNWIND $batch.datasets AS row
  MATCH (a:HwIncident {key: row.start})
  MATCH (b:HwDataset {key: row.end})
  MERGE (a)-[:CONCERNS]->(b)
}
CALL () {
  UNWIND $batch.columns AS row
  MATCH (a:HwIncident {key: row.start})
  MATCH (b:HwColumn {key: row.end})
  MERGE (a)-[:CONCERNS]->(b)
}
CALL () {
  UNWIND $batch.jobs AS row
  MATCH (a:HwIncident {key: row.start})
  MATCH (b:HwJob {key: row.end})
  MERGE (a)-[:CONCERNS]->(b)
}
CALL () {
  UNWIND $batch.runs AS row
  MATCH (a:HwIncident {key: row.start})
  MATCH (b:HwRun {key: row.end})
  MERGE (a)-[:CONCERNS]->(b)
}
CALL () {
  UNWIND $batch.queries AS row
  MATCH (a:HwIncident {key: row.start})
  MATCH (b:HwQuery {key: row.end})
  MERGE (a)-[:CONCERNS]->(b)
}
CALL () {
  UNWIND $batch.consumers AS row
  MATCH (a:HwIncident {key: row.start})
  MATCH (b:HwConsumer {key: row.end})
  MERGE (a)-[:CONCERNS]->(b)
}
