// Datasets that a query reads and writes
MATCH (q:Query {key: $given.query})-[r:READS|WRITES]->(d:Dataset)
RETURN DISTINCT type(r) AS type, d.key AS dataset
