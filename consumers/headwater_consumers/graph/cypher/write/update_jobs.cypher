// Jobs that changed
UNWIND $batch.rows AS row
MATCH (n:HwJob {key: row.key})
SET n += row.properties
