// Expressions of GENERATES edges, reported again with another text
UNWIND $batch.rows AS row
MATCH ()-[r:GENERATES {key: row.key}]->()
SET r += row.properties
