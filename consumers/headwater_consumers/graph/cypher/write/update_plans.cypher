// Plans that changed
UNWIND $rows AS row
MATCH (n:Plan {key: row.key})
SET n += row.properties
