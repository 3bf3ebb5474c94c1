// Expressions of GENERATES edges, reported again with another text
UNWIND $batch.rows AS row
MATCH ()-[r:GENERATES]->()
USING INDEX SEEK r:GENERATES(key)
WHERE r.key = row.key
SET r += row.properties
