// Every column and its dataset
MATCH (dataset:Dataset)-[:HAS_COLUMN]->(column:Column)
RETURN column.key AS column, dataset.key AS dataset
