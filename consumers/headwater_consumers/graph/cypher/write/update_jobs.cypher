// Jobs that changed
UNWIND $rows AS row
MATCH (n:Job {key: row.key})
SET n += row.properties
