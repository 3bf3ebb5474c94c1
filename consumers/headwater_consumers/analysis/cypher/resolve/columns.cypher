// Names of a dataset's columns
MATCH (:HwDataset {key: $given.dataset})-[:HAS_COLUMN]->(n:HwColumn)
RETURN n.name AS name ORDER BY n.position, n.name
