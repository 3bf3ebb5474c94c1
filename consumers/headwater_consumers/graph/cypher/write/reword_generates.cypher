// Expressions of GENERATES edges, told again in other words
UNWIND $batch.rows AS row
MATCH ()-[r:GENERATES {key: row.key}]->()
SET r += row.properties
