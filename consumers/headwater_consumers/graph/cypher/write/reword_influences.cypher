// Expressions of INFLUENCES edges, reported again with another text
UNWIND $batch.rows AS row
MATCH ()-[r:INFLUENCES {key: row.key}]->()
SET r += row.properties
