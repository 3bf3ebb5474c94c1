// Expressions of DERIVES edges, reported again with another text
UNWIND $batch.rows AS row
MATCH ()-[r:DERIVES {key: row.key}]->()
SET r += row.properties
