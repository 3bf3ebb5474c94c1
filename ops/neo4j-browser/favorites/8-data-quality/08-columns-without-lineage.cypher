// Columns without lineage, though a job writes their dataset
// No rows is good news.
MATCH (job:HwJob)-[:WRITES]->(dataset:HwDataset)-[:HAS_COLUMN {current: true}]->(column:HwColumn)
WHERE NOT (column)<-[:DERIVES|GENERATES]-()
  AND NOT any(part IN split(column.name, '.') WHERE EXISTS { (dataset)-[:HAS_COLUMN]->(outer:HwColumn)
                                                           WHERE column.name STARTS WITH outer.name + '.'
                                                             AND (outer)<-[:DERIVES|GENERATES]-() })
RETURN dataset.title AS dataset, collect(DISTINCT column.name) AS columns, collect(DISTINCT job.name) AS written_by
ORDER BY size(columns) DESC, dataset
LIMIT 100
