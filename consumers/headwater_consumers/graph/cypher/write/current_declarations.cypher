// Declarations that hold now, or no longer
UNWIND $batch.rows AS row
MATCH (n:Declaration {key: row.key})
SET n.current = row.current
