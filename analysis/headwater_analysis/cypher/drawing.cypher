// candidates: Datasets that may be drawn, with their criticality and number of datasets downstream, for the choice among them
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

// consumers: Declared consumers of datasets
UNWIND $given.nodes AS node
MATCH (c:HwConsumer)-[:CONSUMES]->(d:HwDataset) WHERE id(d) = node AND c.tenant = $given.tenant
RETURN node, collect(DISTINCT c.key) AS consumers

// datasets: Datasets as they are drawn
UNWIND $given.nodes AS node
MATCH (n:HwDataset) WHERE id(n) = node
RETURN node, n {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS properties, coalesce(n.dropped, false) AS gone,
  coalesce(n.owners, []) AS owners, coalesce(n.tags, []) AS tags, coalesce(n.tag_values, []) AS tag_values,
  n.criticality AS criticality, n.classification AS classification,
  COLLECT { MATCH (n)<-[:WRITES]-(j:HwJob)
    OPTIONAL MATCH (j)<-[:DECLARES]-(x:HwDeclaration)-[:IN_SET]->(by:HwDeclarationSet) WHERE x.current
    WITH j, x ORDER BY by.name
    WITH j, head(collect(x.owners)) AS declared
    UNWIND coalesce(declared, j.owners, []) AS owner
    RETURN DISTINCT owner ORDER BY owner LIMIT 20 } AS owners_of_jobs

// feeds: All hops between datasets that are drawn
UNWIND $given.nodes AS node
MATCH (a)-[:GOES_INTO*0..1]->()-[f:FEEDS]->(b) WHERE id(a) = node AND id(b) IN $given.nodes
  AND ($given.as_of IS NULL OR f.first_seen <= $given.as_of)
RETURN id(a) AS source, id(b) AS target, id(f) AS edge, f.job AS job, f.first_seen AS first_seen, f.last_seen AS last_seen,
  coalesce(f.observed, false) AS observed, coalesce(f.declared, false) AS declared,
  coalesce(f.possible, false) AS possible
ORDER BY a.key, b.key, f.job

// used_by_consumers: Datasets that declared consumers read, with the number of consumers
MATCH (c:HwConsumer)
USING INDEX SEEK c:HwConsumer(key)
WHERE c.key > '' AND c.tenant = $given.tenant
MATCH (c)-[:CONSUMES]->(d:HwDataset)
WITH d, count(DISTINCT c) AS uses
RETURN collect([id(d), uses, d.key]) AS used

// used_by_datasets: Source datasets of the first hops by key, with the number of hops: keys are hashes, so this is a random sample
MATCH (a)-[f:FEEDS]->()
USING INDEX f:FEEDS(key)
WHERE f.key > '' AND a.tenant = $given.tenant
WITH a, f ORDER BY f.key LIMIT $given.most
WITH collect(a) AS begins
WITH begins, size(begins) AS looked_at
CALL (begins) {
  UNWIND begins AS a
  WITH a, count(*) AS hops
  UNWIND CASE WHEN a:HwDataset THEN [a] ELSE [(d:HwDataset)-[:GOES_INTO]->(a) | d] END AS d
  WITH d, sum(hops) AS uses
  RETURN collect([id(d), uses, d.key]) AS used
}
RETURN used, looked_at
