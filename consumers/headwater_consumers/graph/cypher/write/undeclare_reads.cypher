// Datasets that jobs no longer declare to read
UNWIND $batch.rows AS row
MATCH (a:Job {key: row.start})
MATCH (b:Dataset {key: row.end})
MATCH (a)-[r:READS]->(b)
SET r.declared = null
WITH r
WHERE r.observed IS NULL
DELETE r
