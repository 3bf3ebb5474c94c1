// What these datasets feed, one level of an impact
UNWIND $nodes AS node
MATCH (a:Dataset)-[f:FEEDS]->(b:Dataset) WHERE id(a) = node
RETURN collect(node) AS sources, collect(id(b)) AS targets, collect(id(f)) AS edges, collect(f.job) AS jobs
