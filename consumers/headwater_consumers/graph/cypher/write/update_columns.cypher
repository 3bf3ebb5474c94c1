// Columns that changed
UNWIND $batch.rows AS row
MATCH (n:Column {key: row.key})
MATCH (:Dataset)-[r:HAS_COLUMN]->(n)
SET n += row.properties, r += row.validity
