// Expressions of DERIVES edges, reported again with another text
UNWIND $batch.rows AS row
MATCH ()-[r:DERIVES]->()
USING INDEX SEEK r:DERIVES(key)
WHERE r.key = row.key
SET r += row.properties
