// Datasets that feed others by what declarations name, or no longer
UNWIND $batch.rows AS row
MATCH (a:HwDataset {key: row.start})
MATCH (b:HwDataset {key: row.end})
MERGE (a)-[r:FEEDS {key: row.key}]->(b)
  ON CREATE SET r = row.properties
WITH r, row, COLLECT {
  UNWIND coalesce(r.declarations, []) + row.new AS key
  WITH key WHERE NOT key IN row.gone
  RETURN DISTINCT key ORDER BY key
} AS left
SET r.declarations = CASE WHEN left = [] THEN null ELSE left END,
    r.declared = CASE WHEN left = [] THEN r._own ELSE true END
WITH r
WHERE r.observed IS NULL AND r.possible IS NULL AND r.declared IS NULL
DELETE r
