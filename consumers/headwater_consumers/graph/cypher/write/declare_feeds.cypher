// Datasets that jobs declare to feed others now
UNWIND $batch.rows AS row
MATCH (a:HwDataset {key: row.start})
MATCH (b:HwDataset {key: row.end})
MERGE (a)-[r:FEEDS {key: row.key}]->(b)
  ON CREATE SET r = row.properties
SET r._own = true, r.declared = true
