// Datasets that jobs no longer declare to feed others
UNWIND $batch.rows AS row
MATCH (:Dataset)-[r:FEEDS {key: row.key}]->(:Dataset)
SET r._own = null, r.declared = CASE WHEN r.declarations IS NULL THEN null ELSE true END
WITH r
WHERE r.observed IS NULL AND r.possible IS NULL AND r.declared IS NULL
DELETE r
