// Columns and whole datasets that these come from, one level of lineage, and what influences the datasets of these
CALL () {
  UNWIND $given.nodes AS node
  MATCH (a)<-[e:DERIVES|INFLUENCES]-(b)
  WHERE id(a) = node AND ($given.jobs IS NULL OR e.job IN $given.jobs)
  RETURN collect(node) AS sources, collect(id(b)) AS targets, collect(id(e)) AS edges,
    collect(e.type = 'DIRECT') AS direct, collect(e.plan) AS plans
}
CALL () {
  UNWIND $given.nodes AS node
  MATCH (d:HwDataset)-[:HAS_COLUMN]->(c) WHERE id(c) = node
  RETURN collect(node) AS columns, collect(id(d)) AS owners
}
CALL (owners) {
  UNWIND owners AS owner
  WITH DISTINCT owner
  MATCH (d)<-[e:INFLUENCES]-(b)
  WHERE id(d) = owner AND ($given.jobs IS NULL OR e.job IN $given.jobs)
  RETURN collect(owner) AS datasets, collect(id(b)) AS influencing, collect(id(e)) AS influences,
    collect(e.type = 'DIRECT') AS influences_direct, collect(e.plan) AS influences_plans
}
RETURN sources, targets, edges, direct, plans, columns, owners,
  datasets, influencing, influences, influences_direct, influences_plans
