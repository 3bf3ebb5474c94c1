// declared: Declared sensitivities, classifications, approvals and group sizes of columns
UNWIND $given.nodes AS node
MATCH (c:HwColumn) WHERE id(c) = node
OPTIONAL MATCH (d:HwDataset)-[:HAS_COLUMN]->(c)
WITH node, c, d, [(c)<-[r:DECLARES]-(:HwDeclaration {current: true}) | r {.sensitivity, .classification, .smallest_group,
    .approval_covers, .approval_sensitivity, .approval_by, .approval_reason, .approval_until}] AS own,
  [(d)<-[:DECLARES]-(x:HwDeclaration {current: true}) | x {.sensitivity, .classification}] AS whole
WHERE own <> [] OR whole <> [] OR coalesce(d.classification, '') <> ''
RETURN node, own, whole, coalesce(d.classification, '') AS observed

// expressions: Formulas of edges of column lineage, and the input field of each edge
UNWIND $given.edges AS edge
MATCH (a)-[e:DERIVES|INFLUENCES]->() WHERE id(e) = edge
RETURN collect(edge) AS edges, collect([e.expression, CASE WHEN a:HwColumn THEN a.name END]) AS texts

// nested: Columns of some datasets
UNWIND $given.datasets AS node
MATCH (d:HwDataset)-[r:HAS_COLUMN]->(c:HwColumn) WHERE id(d) = node
RETURN node AS dataset, id(c) AS id, c.name AS name, r.last_seen IS NOT NULL AS gone ORDER BY c.key

// readers: Known users of datasets: jobs that read them, jobs among these without an output derived from them, and consumers
UNWIND $given.keys AS key
MATCH (d:HwDataset {key: key})
WITH d, key, COLLECT { MATCH (d)-[f:FEEDS]->() RETURN DISTINCT f.job } AS feeding
RETURN collect({key: key, used: EXISTS { (d)<-[:READS|CONSUMES]-() }, dropped: coalesce(d.dropped, false),
  ending: COLLECT { MATCH (j:HwJob)-[:READS]->(d) WHERE NOT j.key IN feeding AND NOT EXISTS { (d)-[:GOES_INTO]->(j) } RETURN j.key ORDER BY j.key }}) AS datasets

// sources: Columns that are declared sensitive, directly or by their dataset
MATCH (x:HwDeclaration)
USING INDEX SEEK x:HwDeclaration(key)
WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset'
CALL (x) {
  MATCH (x)-[s:DECLARES]->(c:HwColumn) WHERE s.sensitivity IN $given.sensitive
  RETURN c, s.sensitivity AS sensitivity
  UNION
  WITH x WHERE x.sensitivity IN $given.sensitive
  MATCH (x)-[:DECLARES]->(:HwDataset)-[:HAS_COLUMN]->(c:HwColumn)
  WHERE NOT EXISTS { MATCH (c)<-[o:DECLARES]-(:HwDeclaration {current: true}) WHERE o.sensitivity IS NOT NULL }
  RETURN c, x.sensitivity AS sensitivity
}
RETURN collect(id(c)) AS nodes, collect(sensitivity) AS sensitivities
