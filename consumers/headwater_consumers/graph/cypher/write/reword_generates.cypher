// Expressions of GENERATES edges, told again in other words
UNWIND $rows AS row
MATCH ()-[r:GENERATES {key: row.key}]->()
SET r += row.properties
