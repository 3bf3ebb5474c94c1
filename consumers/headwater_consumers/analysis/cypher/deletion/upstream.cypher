// What datasets are made from, one level
UNWIND $given.nodes AS node
MATCH (a:HwDataset)-[f:FEEDS]->(b:HwDataset) WHERE id(b) = node
WITH node, a, f ORDER BY a.key, f.key
RETURN collect(node) AS asked, collect(id(a)) AS found, collect(id(f)) AS edges
