// columns: Columns of the datasets of some columns, if any of these is part of another one; and columns that a plan writes separately
UNWIND $given.nodes AS node
MATCH (d:HwDataset)-[:HAS_COLUMN]->(n) WHERE id(n) = node
WITH DISTINCT d
WHERE EXISTS { MATCH (d)-[:HAS_COLUMN]->(field) WHERE field.name CONTAINS '.' }
RETURN id(d) AS dataset,
  COLLECT { MATCH (d)-[:HAS_COLUMN]->(c:HwColumn) RETURN [id(c), c.name, EXISTS { (c)<-[:DERIVES]-() }] ORDER BY c.key } AS columns
