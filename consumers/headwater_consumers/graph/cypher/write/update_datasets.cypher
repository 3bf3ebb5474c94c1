// Datasets that changed
UNWIND $batch.rows AS row
MATCH (n:Dataset {key: row.key})
SET n += row.properties
