// Expressions of DERIVES edges, told again in other words
UNWIND $batch.rows AS row
MATCH ()-[r:DERIVES {key: row.key}]->()
SET r += row.properties
