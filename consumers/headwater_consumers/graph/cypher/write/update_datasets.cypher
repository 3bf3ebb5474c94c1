// Datasets that changed
UNWIND $rows AS row
MATCH (n:Dataset {key: row.key})
SET n += row.properties
