// Columns and whole datasets that these come from, one level of lineage
UNWIND $nodes AS node
MATCH (a)<-[e:DERIVES|INFLUENCES]-(b)
WHERE id(a) = node AND ($jobs IS NULL OR e.job IN $jobs)
RETURN collect(node) AS sources, collect(id(b)) AS targets, collect(id(e)) AS edges,
  collect(e.type = 'DIRECT') AS direct, collect(e.plan) AS plans
