// assets: Assets of a page, with their owners
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
OPTIONAL MATCH (owner:HwDataset)-[r:HAS_COLUMN]->(n)
WITH node, n, coalesce(owner, n) AS d, r
CALL (d) {
  MATCH (d)<-[:DECLARES]-(x:HwDeclaration)-[:IN_SET]->(by:HwDeclarationSet) WHERE x.current
  WITH x ORDER BY by.name
  RETURN head(collect(CASE WHEN x.owners IS NOT NULL THEN x END)) AS owned, head(collect(x.criticality)) AS criticality
}
RETURN collect({node: node, dataset: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type},
  column: CASE WHEN n:HwColumn THEN n {.key, .name, .data_type} END,
  criticality: coalesce(criticality, d.criticality),
  owners: CASE WHEN owned IS NULL THEN coalesce(d.owners, []) ELSE owned.owners END,
  owner_types: CASE WHEN owned IS NULL THEN coalesce(d.owner_types, []) ELSE owned.owner_types END,
  gone: coalesce(d.dropped, false) OR r.last_seen IS NOT NULL}) AS assets

// column_edges: Columns and datasets derived from, or influenced by, these columns: one level of an impact
UNWIND $given.nodes AS node
MATCH (a)-[e:DERIVES|INFLUENCES]->(b) WHERE id(a) = node
RETURN collect(node) AS sources, collect(id(b)) AS targets, collect(id(e)) AS edges,
  collect(type(e) = 'INFLUENCES') AS whole, collect(coalesce(e.type, '') = 'DIRECT') AS direct,
  collect(coalesce(e.kind, 'UNKNOWN')) AS kinds, collect(coalesce(e.masking, false)) AS masking, collect(e.plan) AS plans

// criticality: Declared criticality of datasets, by Neo4j's ids
UNWIND $given.nodes AS node
MATCH (d:HwDataset)<-[:DECLARES]-(x:HwDeclaration) WHERE id(d) = node AND x.current AND x.criticality IS NOT NULL
WITH node, x ORDER BY x.set
RETURN node, head(collect([x.set, x.criticality])) AS declared

// dataset_ids: Ids of datasets by key
MATCH (d:HwDataset) WHERE d.key IN $given.keys AND d.tenant = $given.tenant
RETURN collect(id(d)) AS ids

// declared: Declared and reported properties of columns and datasets on which severities depend
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
OPTIONAL MATCH (owner:HwDataset)-[:HAS_COLUMN]->(n)
WITH node, n, coalesce(owner, n) AS d
WITH node, coalesce(d.classification, '') AS classification,
  [(n)<-[r:DECLARES]-(x:HwDeclaration {current: true}) WHERE n:HwColumn | [x.set, r {.sensitivity, .classification}]] AS own,
  [(d)<-[:DECLARES]-(x:HwDeclaration {current: true}) | [x.set, x {.sensitivity, .classification, .freshness_seconds,
    .deadline}]] AS whole
WHERE classification <> '' OR size(own) + size(whole) > 0
RETURN collect({node: node, classification: classification, own: own, whole: whole}) AS declared

// facts: Facts of assets for a policy: dataset, type, criticality
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
OPTIONAL MATCH (d:HwDataset)-[:HAS_COLUMN]->(n)
RETURN collect(node) AS nodes, collect(n.key) AS keys, collect(coalesce(id(d), id(n))) AS datasets,
  collect(coalesce(d.type, n.type, '')) AS types, collect(coalesce(d.criticality, n.criticality, '')) AS criticalities,
  collect(CASE WHEN n.data_type STARTS WITH 'struct' OR (n.name IN ['key', 'value'] AND d.type = 'TOPIC')
    THEN EXISTS { MATCH (d)-[:HAS_COLUMN]->(field) WHERE field.name STARTS WITH n.name + '.' }
    ELSE false END) AS parted

// feeds: Datasets that these feed, one level of an impact, with facts for a policy
CALL () {
  UNWIND $given.nodes AS node
  MATCH (a)-[:GOES_INTO*0..1]->()-[f:FEEDS]->(b) WHERE id(a) = node
  RETURN collect(node) AS sources, collect(id(b)) AS targets, collect(id(f)) AS edges, collect(f.job) AS jobs,
    collect(coalesce(f.possible AND f.declared IS NULL, false)) AS possible, collect(DISTINCT b) AS fed
}
RETURN sources, targets, edges, jobs, possible, [b IN fed | id(b)] AS nodes, [b IN fed | b.key] AS keys,
  [b IN fed | coalesce(b.type, '')] AS types, [b IN fed | coalesce(b.criticality, '')] AS criticalities

// hops: Hops of a page: the job, and its transformation
UNWIND $given.edges AS edge
MATCH ()-[e:DERIVES|INFLUENCES|FEEDS]->() WHERE id(e) = edge
RETURN collect({edge: edge, job: e.job, type: e.type, kind: e.kind, subtype: e.subtype, masking: e.masking,
  expression: e.expression, whole: type(e) = 'INFLUENCES', possible: coalesce(e.possible AND e.declared IS NULL, false)}) AS hops

// jobs: Jobs of an impact, with their owners
UNWIND $given.keys AS key
MATCH (j:HwJob {key: key})
CALL (j) {
  MATCH (j)<-[:DECLARES]-(x:HwDeclaration)-[:IN_SET]->(by:HwDeclarationSet) WHERE x.current
  WITH x ORDER BY by.name
  RETURN head(collect(CASE WHEN x.owners IS NOT NULL THEN x END)) AS owned, head(collect(x.criticality)) AS criticality
}
RETURN collect({properties: j {.key, .namespace, .name, .processing_type}, criticality: coalesce(criticality, j.criticality),
  owners: CASE WHEN owned IS NULL THEN coalesce(j.owners, []) ELSE owned.owners END,
  owner_types: CASE WHEN owned IS NULL THEN coalesce(j.owner_types, []) ELSE owned.owner_types END}) AS jobs

// lookups: Columns whose values are looked up by these join keys
UNWIND $given.edges AS edge
MATCH (k:HwColumn)-[e:INFLUENCES]->(d:HwDataset) WHERE id(e) = edge
MATCH (d)<-[o:INFLUENCES]-(other:HwColumn)
WHERE o.plan = e.plan AND o.kind = e.kind AND o.expression_id = e.expression_id AND other.dataset <> k.dataset
WITH edge, d, e.plan AS plan, k, collect(DISTINCT other) AS others
WITH edge, d, plan, k, others,
  EXISTS { MATCH (k)-[v:DERIVES]->(c) WHERE v.plan = plan AND v.type = 'DIRECT' AND c.dataset = d.key } AS kept,
  any(other IN others WHERE
    EXISTS { MATCH (other)-[v:DERIVES]->(c) WHERE v.plan = plan AND v.type = 'DIRECT' AND c.dataset = d.key }) AS theirs
WITH edge, d, plan,
  CASE WHEN theirs AND NOT kept THEN [k.dataset] ELSE [other IN others | other.dataset] END AS sides
MATCH (d)-[:HAS_COLUMN]->(c:HwColumn)<-[v:DERIVES]-(s)
WHERE v.plan = plan AND v.type = 'DIRECT' AND coalesce(s.dataset, s.key) IN sides
RETURN edge, collect(DISTINCT id(c)) AS targets

// makers: Jobs with a declared or reported criticality; and the publication by the latest run that wrote each dataset
CALL () {
  UNWIND $given.jobs AS key
  MATCH (j:HwJob {key: key})
  WITH j, CASE WHEN $given.declarations THEN head(COLLECT {
    MATCH (j)<-[:DECLARES]-(x:HwDeclaration {current: true})-[:IN_SET]->(by:HwDeclarationSet) WHERE x.criticality IS NOT NULL
    RETURN x.criticality ORDER BY by.name
  }) END AS declared
  WITH j, coalesce(declared, j.criticality) AS criticality WHERE criticality IS NOT NULL
  RETURN collect([j.key, j.name, criticality]) AS jobs
}
CALL () {
  // A dataset has a node for each of its names. Only the latest runs with a plan of each job are read.
  UNWIND $given.datasets AS names
  CALL (names) {
    UNWIND names AS node
    MATCH (d:HwDataset)<-[:WRITES]-(j:HwJob) WHERE id(d) = node
    CALL (d, j) {
      MATCH (r:HwRun)-[u:USED]->(:HwPlan)
      WHERE u._job = j.key AND u.first_seen <= $given.until
      WITH r, u ORDER BY u._job DESC, u.first_seen DESC LIMIT $given.looked_at
      WITH r, u WHERE EXISTS { (r)-[:PRODUCED]->(d) }
      RETURN r.publication AS publication, u.first_seen AS at, r.key AS run ORDER BY u.first_seen DESC, r.key LIMIT 1
    }
    RETURN publication ORDER BY at DESC, run DESC LIMIT 1
  }
  WITH names[0] AS node, publication WHERE publication IS NOT NULL
  RETURN collect([node, publication]) AS published
}
RETURN jobs, published

// start_columns: All columns of the dataset at which a change begins
MATCH (d:HwDataset)-[r:HAS_COLUMN]->(c:HwColumn) WHERE d.key IN $given.datasets
RETURN id(c) AS id, c.name AS name, r.last_seen IS NOT NULL AS gone ORDER BY c.key

// used: Check whether a job was observed to read or write a dataset, under any of its names
RETURN EXISTS { MATCH (d:HwDataset)<-[r:READS|WRITES]-(:HwJob) WHERE d.key IN $given.keys AND r.observed } AS used
