// columns: Columns of the datasets of some columns, where one of them is part of another; and which a plan makes by themselves
UNWIND $given.nodes AS node
MATCH (d:HwDataset)-[:HAS_COLUMN]->(n) WHERE id(n) = node
WITH DISTINCT d
WHERE EXISTS { MATCH (d)-[:HAS_COLUMN]->(field) WHERE field.name CONTAINS '.' }
RETURN id(d) AS dataset,
  COLLECT { MATCH (d)-[:HAS_COLUMN]->(c:HwColumn) RETURN [id(c), c.name, EXISTS { (c)<-[:DERIVES]-() }] ORDER BY c.key } AS columns
