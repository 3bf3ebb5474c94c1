// Columns of the dataset whose name ends so
MATCH (dataset:HwDataset)-[:HAS_COLUMN]->(column:HwColumn)
WHERE dataset.name ENDS WITH $suffix
RETURN column.key AS key, column.name AS name
ORDER BY column.position, name
