// Queries that changed
UNWIND $batch.rows AS row
MATCH (n:Query {key: row.key})
SET n += row.properties
