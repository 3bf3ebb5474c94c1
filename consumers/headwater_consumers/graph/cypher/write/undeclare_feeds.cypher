// Datasets that jobs no longer declare to feed others
UNWIND $batch.rows AS row
MATCH (:HwDataset)-[r:FEEDS {key: row.key}]->(:HwDataset)
SET r._own = null, r.declared = CASE WHEN r.declarations IS NULL THEN null ELSE true END
WITH r
WHERE r.observed IS NULL AND r.possible IS NULL AND r.declared IS NULL
DELETE r
