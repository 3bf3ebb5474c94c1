// Plans that changed
UNWIND $batch.rows AS row
MATCH (n:Plan {key: row.key})
SET n += row.properties
