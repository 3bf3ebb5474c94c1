// Datasets and columns that declarations name as read by their consumers, or no longer
UNWIND $batch.rows AS row
MATCH (a:HwConsumer {key: row.start})
OPTIONAL MATCH (d:HwDataset {key: row.end})
OPTIONAL MATCH (c:HwColumn {key: row.end})
WITH a, row, coalesce(d, c) AS b
WHERE b IS NOT NULL
MERGE (a)-[r:CONSUMES]->(b)
WITH r, row, COLLECT {
  UNWIND coalesce(r.declarations, []) + row.new AS key
  WITH key WHERE NOT key IN row.gone
  RETURN DISTINCT key ORDER BY key
} AS left
SET r.declarations = left
WITH r
WHERE r.declarations = []
DELETE r
