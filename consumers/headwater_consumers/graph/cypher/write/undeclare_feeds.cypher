// Datasets that jobs no longer declare to feed others
UNWIND $batch.rows AS row
MATCH (:Dataset)-[r:FEEDS {key: row.key}]->(:Dataset)
SET r.declared = null
WITH r
WHERE r.observed IS NULL
DELETE r
