// Columns that changed
UNWIND $batch.rows AS row
MATCH (n:HwColumn {key: row.key})
MATCH (:HwDataset)-[r:HAS_COLUMN]->(n)
SET n += row.properties, r += row.validity
