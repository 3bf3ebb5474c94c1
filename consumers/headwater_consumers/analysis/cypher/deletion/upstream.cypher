// What datasets are made from, one level
UNWIND $given.nodes AS node
MATCH (a:Dataset)-[f:FEEDS]->(b:Dataset) WHERE id(b) = node
WITH node, a, f ORDER BY a.key, f.key
RETURN collect(node) AS asked, collect(id(a)) AS found, collect(id(f)) AS edges
