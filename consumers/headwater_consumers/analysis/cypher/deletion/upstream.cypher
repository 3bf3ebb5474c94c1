// What datasets are made from, one level
UNWIND $given.nodes AS node
MATCH (a:HwDataset)-[:GOES_INTO*0..1]->()-[f:FEEDS]->(b) WHERE id(b) = node
WITH node, a, f ORDER BY a.key, f.key
RETURN collect(node) AS asked, collect(id(a)) AS found, collect(id(f)) AS edges
