// Versions that changed
UNWIND $rows AS row
MATCH (n:Version {key: row.key})
SET n += row.properties
