// Plans that changed
UNWIND $batch.rows AS row
MATCH (n:HwPlan {key: row.key})
SET n += row.properties
