// aliases: Datasets by words of their other names, best first
CALL db.index.fulltext.queryNodes('headwater_alias_words', $given.query, {limit: $given.looked_at}) YIELD node AS a, score
WHERE a.tenant = $given.tenant
MATCH (a)<-[:KNOWN_AS]-(n:HwDataset) WHERE $given.namespace IS NULL OR n.namespace = $given.namespace
  AND ($given.types IS NULL OR toUpper(n.type) IN $given.types)
WITH n, max(score) AS score, collect(a.name) AS aliases ORDER BY score DESC, n.key LIMIT $given.limit
RETURN collect({id: id(n), score: score, properties: n {.key, .namespace, .name, .owners, .tags, .tag_values, .tag_fields, .title, .type, .symlinks, .symlink_types, .dropped, aliases: aliases}}) AS rows

// columns: Columns by words, best first, with their datasets
CALL db.index.fulltext.queryNodes('headwater_column_words', $given.query, {limit: $given.looked_at}) YIELD node AS n, score
MATCH (d:HwDataset)-[r:HAS_COLUMN]->(n)
WHERE n.tenant = $given.tenant AND ($given.namespace IS NULL OR d.namespace = $given.namespace)
  AND ($given.types IS NULL OR toUpper(d.type) IN $given.types)
WITH n, r, d, score ORDER BY score DESC, n.key LIMIT $given.limit
RETURN collect({id: id(n), score: score, properties: n {.key, .name, .data_type, left: r.last_seen IS NOT NULL},
  dataset: d {.key, .namespace, .name, .title, .type, .symlinks, .symlink_types, .owners, .tags, .tag_values, .tag_fields, .dropped}}) AS rows

// columns_of: Columns of some datasets whose names have, for each prefix, a word that begins with it
MATCH (d:HwDataset)-[r:HAS_COLUMN]->(n:HwColumn)
WHERE d.key IN $given.keys AND d.tenant = $given.tenant AND all(word IN $given.words WHERE ' ' + n._words CONTAINS ' ' + word)
WITH n, r, d ORDER BY n.key LIMIT $given.limit
RETURN collect({id: id(n), score: 0.0, properties: n {.key, .name, .data_type, left: r.last_seen IS NOT NULL},
  dataset: d {.key, .namespace, .name, .title, .type, .symlinks, .symlink_types, .owners, .tags, .tag_values, .tag_fields, .dropped}}) AS rows

// consumers: Consumers that are declared now, by key and name
MATCH (c:HwConsumer)
USING INDEX SEEK c:HwConsumer(key)
WHERE c.key > '' AND c.tenant = $given.tenant AND EXISTS { (c)<-[:DECLARES]-(:HwDeclaration {current: true}) }
RETURN c.key AS key, c.name AS name ORDER BY c.key LIMIT $given.limit

// datasets: Datasets by words, best first
CALL db.index.fulltext.queryNodes('headwater_dataset_words', $given.query, {limit: $given.looked_at}) YIELD node AS n, score
WHERE n.tenant = $given.tenant AND ($given.namespace IS NULL OR n.namespace = $given.namespace)
  AND ($given.types IS NULL OR toUpper(n.type) IN $given.types)
WITH n, score ORDER BY score DESC, n.key LIMIT $given.limit
RETURN collect({id: id(n), score: score, properties: n {.key, .namespace, .name, .owners, .tags, .tag_values, .tag_fields, .title, .type, .symlinks, .symlink_types, .dropped}}) AS rows

// declared_columns: Columns with one of some declared tags, or with a declared sensitivity of the column or its dataset
MATCH (x:HwDeclaration)
USING INDEX SEEK x:HwDeclaration(key)
WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset'
CALL (x) {
  MATCH (x)-[t:DECLARES]->(n:HwColumn)
  WHERE t.sensitivity = $given.sensitivity OR any(i IN range(0, size(coalesce(t.tags, [])) - 1) WHERE [t.tags[i], t.tag_values[i]] IN $given.tags)
  RETURN n
 UNION
  WITH x WHERE x.sensitivity = $given.sensitivity
  MATCH (x)-[:DECLARES]->(:HwDataset)-[:HAS_COLUMN]->(n:HwColumn)
  RETURN n
}
MATCH (d:HwDataset)-[r:HAS_COLUMN]->(n)
WHERE $given.namespace IS NULL OR d.namespace = $given.namespace
  AND ($given.types IS NULL OR toUpper(d.type) IN $given.types)
WITH DISTINCT n, r, d ORDER BY n.key LIMIT $given.limit
RETURN collect({id: id(n), score: 0.0, properties: n {.key, .name, .data_type, left: r.last_seen IS NOT NULL},
  dataset: d {.key, .namespace, .name, .title, .type, .symlinks, .symlink_types, .owners, .tags, .tag_values, .tag_fields, .dropped}}) AS rows

// declared_datasets: Datasets with one of some declared owners or tags, or with a declared sensitivity
MATCH (x:HwDeclaration)
USING INDEX SEEK x:HwDeclaration(key)
WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset'
MATCH (x)-[r:DECLARES]->(m)
WHERE any(owner IN x.owners WHERE owner IN $given.owners) OR x.sensitivity = $given.sensitivity OR r.sensitivity = $given.sensitivity
  OR any(n IN range(0, size(coalesce(x.tags, [])) - 1) WHERE [x.tags[n], x.tag_values[n]] IN $given.tags)
  OR any(n IN range(0, size(coalesce(r.tags, [])) - 1) WHERE [r.tags[n], r.tag_values[n]] IN $given.tags)
MATCH (x)-[:DECLARES]->(n:HwDataset)
WHERE $given.namespace IS NULL OR n.namespace = $given.namespace
  AND ($given.types IS NULL OR toUpper(n.type) IN $given.types)
WITH DISTINCT n ORDER BY n.key LIMIT $given.limit
RETURN collect({id: id(n), score: 0.0, properties: n {.key, .namespace, .name, .owners, .tags, .tag_values, .tag_fields, .title, .type, .symlinks, .symlink_types, .dropped}}) AS rows

// declared_jobs: Jobs with one of some declared owners or tags, or with a declared sensitivity
MATCH (x:HwDeclaration)
USING INDEX SEEK x:HwDeclaration(key)
WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'job'
MATCH (x)-[r:DECLARES]->(m)
WHERE any(owner IN x.owners WHERE owner IN $given.owners) OR x.sensitivity = $given.sensitivity OR r.sensitivity = $given.sensitivity
  OR any(n IN range(0, size(coalesce(x.tags, [])) - 1) WHERE [x.tags[n], x.tag_values[n]] IN $given.tags)
  OR any(n IN range(0, size(coalesce(r.tags, [])) - 1) WHERE [r.tags[n], r.tag_values[n]] IN $given.tags)
MATCH (x)-[:DECLARES]->(n:HwJob)
WHERE $given.namespace IS NULL OR n.namespace = $given.namespace
  AND ($given.types IS NULL OR toUpper(n.processing_type) IN $given.types)
WITH DISTINCT n ORDER BY n.key LIMIT $given.limit
RETURN collect({id: id(n), score: 0.0, properties: n {.key, .namespace, .name, .owners, .tags, .tag_values, .tag_fields, type: n.processing_type}}) AS rows

// declared_owners: Owners that are declared for datasets or jobs
MATCH (x:HwDeclaration)
USING INDEX SEEK x:HwDeclaration(key)
WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type IN ['dataset', 'job']
UNWIND x.owners AS owner
RETURN DISTINCT owner AS key, '' AS value

// declared_tags: Tags that are declared for datasets, for their columns, or for jobs
MATCH (x:HwDeclaration)
USING INDEX SEEK x:HwDeclaration(key)
WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type IN ['dataset', 'job']
MATCH (x)-[r:DECLARES]->(n)
WITH CASE WHEN n:HwColumn THEN r.tags ELSE x.tags END AS tags, CASE WHEN n:HwColumn THEN r.tag_values ELSE x.tag_values END AS tag_values
UNWIND range(0, size(coalesce(tags, [])) - 1) AS n
RETURN DISTINCT tags[n] AS key, tag_values[n] AS value

// jobs: Jobs by words, best first
CALL db.index.fulltext.queryNodes('headwater_job_words', $given.query, {limit: $given.looked_at}) YIELD node AS n, score
WHERE n.tenant = $given.tenant AND ($given.namespace IS NULL OR n.namespace = $given.namespace)
  AND ($given.types IS NULL OR toUpper(n.processing_type) IN $given.types)
WITH n, score ORDER BY score DESC, n.key LIMIT $given.limit
RETURN collect({id: id(n), score: score, properties: n {.key, .namespace, .name, .owners, .tags, .tag_values, .tag_fields, type: n.processing_type}}) AS rows

// uses: Number of datasets that each of these datasets feeds
UNWIND $given.nodes AS node
MATCH (n:HwDataset) WHERE id(n) = node
RETURN collect(node) AS nodes, collect(COUNT {
  MATCH (n)-[:GOES_INTO*0..1]->()-[:FEEDS]->(m:HwDataset) WHERE m <> n
  RETURN DISTINCT m
}) AS uses
