// Datasets that declarations name as read by their jobs, or no longer
UNWIND $batch.rows AS row
MATCH (a:HwJob {key: row.start})
MATCH (b:HwDataset {key: row.end})
MERGE (a)-[r:READS]->(b)
WITH r, row, COLLECT {
  UNWIND coalesce(r.declarations, []) + row.new AS key
  WITH key WHERE NOT key IN row.gone
  RETURN DISTINCT key ORDER BY key
} AS left
SET r.declarations = CASE WHEN left = [] THEN null ELSE left END,
    r.declared = CASE WHEN left = [] THEN r._own ELSE true END
WITH r
WHERE r.observed IS NULL AND r.declared IS NULL
DELETE r
