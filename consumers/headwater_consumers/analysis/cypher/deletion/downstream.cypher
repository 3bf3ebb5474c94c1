// What is made from datasets, one level
UNWIND $given.nodes AS node
MATCH (a)-[:GOES_INTO*0..1]->()-[f:FEEDS]->(b) WHERE id(a) = node
WITH node, b, f ORDER BY b.key, f.key
RETURN collect(node) AS asked, collect(id(b)) AS found, collect(id(f)) AS edges
