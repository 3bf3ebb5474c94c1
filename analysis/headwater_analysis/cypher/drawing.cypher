// candidates: Datasets that may be drawn, with what decides which of them are: criticality and number of datasets downstream
UNWIND $given.nodes AS node
MATCH (n:HwDataset) WHERE id(n) = node
RETURN node, n.key AS key, n.criticality AS criticality,
  COLLECT { MATCH (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current AND x.criticality IS NOT NULL
    RETURN x.criticality ORDER BY x.set, x.key LIMIT 1 } AS declared,
  COUNT {
    MATCH (n)-[:GOES_INTO*0..1]->()-[f:FEEDS]->(m:HwDataset)
    WHERE m <> n AND ($given.as_of IS NULL OR f.first_seen <= $given.as_of)
    RETURN DISTINCT m
  } AS downstream

// columns: Columns of datasets that are drawn, in the order of their schemas
UNWIND $given.nodes AS node
MATCH (d:HwDataset) WHERE id(d) = node
CALL (d) {
  MATCH (d)-[r:HAS_COLUMN]->(c:HwColumn) WHERE r.last_seen IS NULL
  WITH c ORDER BY c.position IS NULL, c.position, c.name
  RETURN count(c) AS total, collect(c {.key, .name, type: c.data_type})[..$given.most] AS columns
}
RETURN node, total, columns

// datasets: Datasets as they are drawn
UNWIND $given.nodes AS node
MATCH (n:HwDataset) WHERE id(n) = node
RETURN node, n {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS properties, coalesce(n.dropped, false) AS gone,
  coalesce(n.owners, []) AS owners, coalesce(n.tags, []) AS tags, coalesce(n.tag_values, []) AS tag_values,
  n.criticality AS criticality, n.classification AS classification,
  COLLECT { MATCH (n)<-[:WRITES]-(j:HwJob) UNWIND coalesce(j.owners, []) AS owner
    RETURN DISTINCT owner ORDER BY owner LIMIT 20 } AS owners_of_jobs

// feeds: All hops between datasets that are drawn
UNWIND $given.nodes AS node
MATCH (a)-[:GOES_INTO*0..1]->()-[f:FEEDS]->(b) WHERE id(a) = node AND id(b) IN $given.nodes
  AND ($given.as_of IS NULL OR f.first_seen <= $given.as_of)
RETURN id(a) AS source, id(b) AS target, id(f) AS edge, f.job AS job, f.first_seen AS first_seen, f.last_seen AS last_seen,
  coalesce(f.observed, false) AS observed, coalesce(f.declared, false) AS declared,
  coalesce(f.possible, false) AS possible
ORDER BY a.key, b.key, f.job
