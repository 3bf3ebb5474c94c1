// Datasets that jobs declare to write now
UNWIND $batch.rows AS row
MATCH (a:HwJob {key: row.start})
MATCH (b:HwDataset {key: row.end})
MERGE (a)-[r:WRITES]->(b)
SET r._own = true, r.declared = true
