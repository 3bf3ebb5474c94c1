// Datasets that feed these, one level of lineage
UNWIND $given.nodes AS node
MATCH (a)<-[f:FEEDS]-()<-[:GOES_INTO*0..1]-(b:HwDataset)
WHERE id(a) = node
  AND ($given.jobs IS NULL OR f.job IN $given.jobs)
  AND ($given.as_of IS NULL OR f.first_seen <= $given.as_of)
  AND ($given.since IS NULL OR f.last_seen >= $given.since OR (f.declared AND $given.as_of IS NULL))
RETURN collect(node) AS sources, collect(id(b)) AS targets, collect(id(f)) AS edges
