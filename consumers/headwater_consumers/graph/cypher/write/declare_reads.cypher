// Datasets that jobs declare to read now
UNWIND $batch.rows AS row
MATCH (a:HwJob {key: row.start})
MATCH (b:HwDataset {key: row.end})
MERGE (a)-[r:READS]->(b)
SET r._own = true, r.declared = true
