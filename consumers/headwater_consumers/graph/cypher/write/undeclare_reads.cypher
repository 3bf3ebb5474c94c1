// Datasets that jobs no longer declare to read
UNWIND $batch.rows AS row
MATCH (a:HwJob {key: row.start})
MATCH (b:HwDataset {key: row.end})
MATCH (a)-[r:READS]->(b)
SET r._own = null, r.declared = CASE WHEN r.declarations IS NULL THEN null ELSE true END
WITH r
WHERE r.observed IS NULL AND r.declared IS NULL
DELETE r
