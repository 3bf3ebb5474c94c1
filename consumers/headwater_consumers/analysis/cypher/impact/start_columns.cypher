// All columns of the dataset that a change begins at
MATCH (d:HwDataset)-[r:HAS_COLUMN]->(c:HwColumn) WHERE d.key IN $given.datasets
RETURN id(c) AS id, c.name AS name, r.last_seen IS NOT NULL AS gone ORDER BY c.key
