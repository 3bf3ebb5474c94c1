// Datasets that a query reads and writes
MATCH (q:HwQuery {key: $given.query})-[r:READS|WRITES]->(d:HwDataset)
RETURN DISTINCT type(r) AS type, d.key AS dataset
