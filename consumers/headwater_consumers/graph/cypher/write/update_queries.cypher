// Queries that changed
UNWIND $rows AS row
MATCH (n:Query {key: row.key})
SET n += row.properties
