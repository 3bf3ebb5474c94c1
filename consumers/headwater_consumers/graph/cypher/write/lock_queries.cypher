// Queries, locked
UNWIND $batch.rows AS key
MATCH (n:HwQuery {key: key})
SET n._l = true
