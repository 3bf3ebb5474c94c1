// A dataset's columns, by name
MATCH (:HwDataset {key: $given.dataset})-[:HAS_COLUMN]->(n:HwColumn)
RETURN n.name AS name, n.key AS key ORDER BY n.position, n.name
