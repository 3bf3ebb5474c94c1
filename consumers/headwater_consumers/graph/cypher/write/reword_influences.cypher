// Expressions of INFLUENCES edges, told again in other words
UNWIND $rows AS row
MATCH ()-[r:INFLUENCES {key: row.key}]->()
SET r += row.properties
