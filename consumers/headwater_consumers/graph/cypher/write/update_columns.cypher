// Columns that changed
UNWIND $rows AS row
MATCH (n:Column {key: row.key})
MATCH (:Dataset)-[r:HAS_COLUMN]->(n)
SET n += row.properties, r += row.validity
