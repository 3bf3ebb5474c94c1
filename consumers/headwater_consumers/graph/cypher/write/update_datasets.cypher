// Datasets that changed
UNWIND $batch.rows AS row
MATCH (n:HwDataset {key: row.key})
SET n += row.properties
