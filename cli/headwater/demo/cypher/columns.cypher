// Every column and its dataset
MATCH (dataset:HwDataset)-[:HAS_COLUMN]->(column:HwColumn)
RETURN column.key AS column, dataset.key AS dataset
