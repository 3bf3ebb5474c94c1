// Columns and whole datasets that these go into, one level of lineage
UNWIND $given.nodes AS node
MATCH (a)-[e:DERIVES|INFLUENCES]->(b)
WHERE id(a) = node AND ($given.jobs IS NULL OR e.job IN $given.jobs)
RETURN collect(node) AS sources, collect(id(b)) AS targets, collect(id(e)) AS edges,
  collect(e.type = 'DIRECT') AS direct, collect(e.plan) AS plans
