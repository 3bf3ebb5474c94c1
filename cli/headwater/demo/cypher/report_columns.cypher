// Columns of the dataset whose name ends so
MATCH (dataset:Dataset)-[:HAS_COLUMN]->(column:Column)
WHERE dataset.name ENDS WITH $suffix
RETURN column.key AS key, column.name AS name
ORDER BY column.position, name
