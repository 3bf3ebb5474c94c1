// called: Datasets whose other names are these, by the keys that datasets of these names would have
UNWIND $given.keys AS key
MATCH (a:HwAlias {dataset: key}) WHERE a.tenant = $given.tenant
MATCH (a)<-[:KNOWN_AS]-(d:HwDataset)
RETURN key, collect(DISTINCT d.key) AS datasets

// consumers: Consumers of datasets and columns, by Neo4j's ids, each with the requested assets that it reads
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
CALL (n) {
  MATCH (c:HwConsumer)-[:CONSUMES]->(n)
  RETURN c
  UNION
  MATCH (n)<-[:HAS_COLUMN]-(d:HwDataset)<-[:CONSUMES]-(c:HwConsumer)
  WHERE NOT EXISTS { MATCH (c)-[:CONSUMES]->(other:HwColumn) WHERE other.dataset = d.key }
    // Who reads a struct or a topic's payload reads each of its fields, and vice versa.
    OR EXISTS { MATCH (c)-[:CONSUMES]->(other:HwColumn) WHERE other.dataset = d.key
      AND (n.name STARTS WITH other.name + '.' OR other.name STARTS WITH n.name + '.') }
  RETURN c
}
OPTIONAL MATCH (owner:HwDataset)-[:HAS_COLUMN]->(n)
WITH c, coalesce(owner, n) AS d, CASE WHEN n:HwColumn THEN n END AS column
WHERE c.tenant = $given.tenant
RETURN c.key AS key, c.name AS name,
  collect({dataset: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type}, column: column {.key, .name, .data_type}}) AS reads

// consumers_of_datasets: Consumers of datasets, by the datasets' keys
UNWIND $given.keys AS key
MATCH (c:HwConsumer)-[:CONSUMES]->(d:HwDataset {key: key})
RETURN c.key AS key, c.name AS name,
  collect({dataset: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type}, column: null}) AS reads

// declarations: Declarations by key, with their columns
UNWIND $given.keys AS key
MATCH (n:HwDeclaration {key: key})
RETURN properties(n) AS declaration, [(n)-[r:DECLARES]->(c:HwColumn) | [c.name, properties(r)]] AS columns,
  [(n)-[:DECLARES]->(s:HwDataset|HwJob|HwConsumer) | [s.namespace, s.name]][0] AS subject

// edges: Edges of plans that jobs declare, with the names of their ends
UNWIND $given.plans AS plan
CALL (plan) {
  MATCH (:HwPlan {key: plan})-[:OF]->(:HwJob)-[:WRITES {declared: true}]->(into:HwDataset)-[:HAS_COLUMN]->(target:HwColumn)<-[e:DERIVES]-(source)
  WHERE e.plan = plan
  RETURN into, target.name AS column, source, e
  UNION ALL
  MATCH (:HwPlan {key: plan})-[:OF]->(:HwJob)-[:WRITES {declared: true}]->(into:HwDataset)<-[e:INFLUENCES]-(source)
  WHERE e.plan = plan
  RETURN into, null AS column, source, e
}
MATCH (of:HwDataset {key: coalesce(source.dataset, source.key)})
RETURN plan, into.namespace AS namespace, into.name AS name, column, of.namespace AS source_namespace, of.name AS source_name,
  CASE WHEN source:HwColumn THEN source.name END AS source_column, e.kind AS kind, e.masking AS masking, e.expression AS expression

// feeds_elsewhere: Pairs of input and output dataset in declarations of all sets but one, each as a text of two keys
MATCH (x:HwDeclaration)
USING INDEX SEEK x:HwDeclaration(key)
WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'job' AND x.set <> $given.set
UNWIND x._feeds AS pair
RETURN collect(DISTINCT pair) AS pairs

// holding: Current declarations of some datasets, jobs and consumers, with their columns
CALL () {
  UNWIND $given.keys AS key
  MATCH (s:HwDataset {key: key})
  RETURN s
  UNION ALL
  UNWIND $given.keys AS key
  MATCH (s:HwJob {key: key})
  RETURN s
  UNION ALL
  UNWIND $given.keys AS key
  MATCH (s:HwConsumer {key: key})
  RETURN s
}
MATCH (s)<-[:DECLARES]-(n:HwDeclaration)
WHERE n.current
RETURN properties(n) AS declaration, [(n)-[r:DECLARES]->(c:HwColumn) | [c.name, properties(r)]] AS columns,
  [s.namespace, s.name] AS subject

// holding_elsewhere: Current declarations of some datasets, jobs and consumers by all sets but one, with their columns
CALL () {
  UNWIND $given.keys AS key
  MATCH (s:HwDataset {key: key})
  RETURN s
  UNION ALL
  UNWIND $given.keys AS key
  MATCH (s:HwJob {key: key})
  RETURN s
  UNION ALL
  UNWIND $given.keys AS key
  MATCH (s:HwConsumer {key: key})
  RETURN s
}
MATCH (s)<-[:DECLARES]-(n:HwDeclaration)
WHERE n.current AND n.set <> $given.set
RETURN properties(n) AS declaration, [(n)-[r:DECLARES]->(c:HwColumn) | [c.name, properties(r)]] AS columns,
  [s.namespace, s.name] AS subject

// names: Names of datasets and columns, by key
CALL () {
  UNWIND $given.keys AS key
  MATCH (d:HwDataset {key: key})
  RETURN [key, d.namespace, d.name, null] AS row
  UNION ALL
  UNWIND $given.keys AS key
  MATCH (c:HwColumn {key: key})
  MATCH (d:HwDataset {key: c.dataset})
  RETURN [key, d.namespace, d.name, c.name] AS row
}
RETURN collect(row) AS names

// owned: Owners in current declarations of some datasets, jobs and consumers
CALL () {
  UNWIND $given.keys AS key
  MATCH (s:HwDataset {key: key})
  RETURN s
  UNION ALL
  UNWIND $given.keys AS key
  MATCH (s:HwJob {key: key})
  RETURN s
  UNION ALL
  UNWIND $given.keys AS key
  MATCH (s:HwConsumer {key: key})
  RETURN s
}
MATCH (s)<-[:DECLARES]-(n:HwDeclaration)
WHERE n.current AND n.owners IS NOT NULL
RETURN n {.key, .set, .subject, .subject_type, .owners, .owner_types} AS declaration, [] AS columns,
  [s.namespace, s.name] AS subject

// owners: Owners that events report of datasets and jobs, by key
CALL () {
  UNWIND $given.keys AS key
  MATCH (n:HwDataset {key: key})
  RETURN n
  UNION ALL
  UNWIND $given.keys AS key
  MATCH (n:HwJob {key: key})
  RETURN n
}
RETURN n.key AS key, n.owners AS owners, n.owner_types AS owner_types

// progress: Latest revision of a declaration set, and number of some declarations in the graph
OPTIONAL MATCH (s:HwDeclarationSet {key: $given.subject})
CALL () {
  UNWIND $given.keys AS key
  MATCH (n:HwDeclaration {key: key})
  RETURN count(n) AS there
}
RETURN coalesce(s.revision, 0) AS revision, there

// readers: Consumers of datasets and columns, by Neo4j's ids, and whether they name the column or read its dataset as a whole
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
CALL (n) {
  MATCH (c:HwConsumer)-[:CONSUMES]->(n)
  RETURN c, true AS named
  UNION
  MATCH (n)<-[:HAS_COLUMN]-(d:HwDataset)<-[:CONSUMES]-(c:HwConsumer)
  WHERE NOT EXISTS { MATCH (c)-[:CONSUMES]->(other:HwColumn) WHERE other.dataset = d.key }
  RETURN c, false AS named
  UNION
  // Who reads a struct or a topic's payload reads each of its fields, and vice versa.
  MATCH (n)<-[:HAS_COLUMN]-(d:HwDataset)<-[:CONSUMES]-(c:HwConsumer)-[:CONSUMES]->(other:HwColumn)
  WHERE other.dataset = d.key AND (n.name STARTS WITH other.name + '.' OR other.name STARTS WITH n.name + '.')
  RETURN c, true AS named
}
WITH node, c, named WHERE c.tenant = $given.tenant
RETURN node, collect(DISTINCT [c.key, c.name, named]) AS consumers

// references: Datasets among these that are declared as reference data, by key
UNWIND $given.keys AS key
MATCH (d:HwDataset {key: key})<-[:DECLARES]-(:HwDeclaration {current: true, reference: true})
RETURN collect(DISTINCT d.key) AS keys

// set: A declaration set
MATCH (s:HwDeclarationSet {key: $given.subject})
RETURN s.revision AS revision, s._items AS items, s._missing AS missing, s.format AS format, s.source AS source,
  s.document AS document

// there: Keys of declarations that the graph has, among these keys
UNWIND $given.keys AS key
MATCH (n:HwDeclaration {key: key})
RETURN collect(n.key) AS there

// unknown: Names of datasets that the graph lacks, among these names
UNWIND $given.datasets AS row
OPTIONAL MATCH (d:HwDataset {key: row[0]})
WITH row, d
WHERE d IS NULL
RETURN row[1] AS namespace, row[2] AS name
