// Queries that changed
UNWIND $batch.rows AS row
MATCH (n:HwQuery {key: row.key})
SET n += row.properties
