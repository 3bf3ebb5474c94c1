// Expressions of DERIVES edges, told again in other words
UNWIND $rows AS row
MATCH ()-[r:DERIVES {key: row.key}]->()
SET r += row.properties
