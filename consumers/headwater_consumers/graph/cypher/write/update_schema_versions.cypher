// Schemas of datasets that were seen earlier or later
UNWIND $batch.rows AS row
MATCH (n:HwSchemaVersion {key: row.key})
SET n += row.properties
