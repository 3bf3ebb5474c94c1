// Expressions of INFLUENCES edges, reported again with another text
UNWIND $batch.rows AS row
MATCH ()-[r:INFLUENCES]->()
USING INDEX SEEK r:INFLUENCES(key)
WHERE r.key = row.key
SET r += row.properties
