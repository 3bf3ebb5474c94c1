// Datasets that these feed, one level of lineage
UNWIND $nodes AS node
MATCH (a)-[f:FEEDS]->(b)
WHERE id(a) = node
  AND ($jobs IS NULL OR f.job IN $jobs)
  AND ($as_of IS NULL OR f.first_seen <= $as_of)
  AND ($since IS NULL OR f.last_seen >= $since OR (f.declared AND $as_of IS NULL))
RETURN collect(node) AS sources, collect(id(b)) AS targets, collect(id(f)) AS edges
