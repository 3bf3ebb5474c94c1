// Datasets of columns
UNWIND $nodes AS node
MATCH (d:Dataset)-[:HAS_COLUMN]->(c:Column) WHERE id(c) = node
RETURN collect(node) AS columns, collect(id(d)) AS datasets
