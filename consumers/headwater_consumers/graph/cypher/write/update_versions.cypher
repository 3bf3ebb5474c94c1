// Versions that changed
UNWIND $batch.rows AS row
MATCH (n:HwVersion {key: row.key})
SET n += row.properties
