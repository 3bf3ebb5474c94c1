// Queries, locked
UNWIND $batch.rows AS key
MATCH (n:Query {key: key})
SET n._l = true
