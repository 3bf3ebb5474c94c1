// Versions that changed
UNWIND $batch.rows AS row
MATCH (n:Version {key: row.key})
SET n += row.properties
