// Jobs that changed
UNWIND $batch.rows AS row
MATCH (n:Job {key: row.key})
SET n += row.properties
