// Expressions of INFLUENCES edges, told again in other words
UNWIND $batch.rows AS row
MATCH ()-[r:INFLUENCES {key: row.key}]->()
SET r += row.properties
