// Columns of some datasets
UNWIND $given.datasets AS node
MATCH (d:HwDataset)-[r:HAS_COLUMN]->(c:HwColumn) WHERE id(d) = node
RETURN node AS dataset, id(c) AS id, c.name AS name, r.last_seen IS NOT NULL AS gone ORDER BY c.key
