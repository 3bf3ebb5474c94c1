// consumers: Consumers: create the new ones and lock the others
UNWIND $batch.rows AS row
MERGE (n:HwConsumer {key: row.key})
  ON CREATE SET n = row
  ON MATCH SET n._l = true

// declaration_sets: Declaration sets: create the new ones, lock the others and return what their revisions list
UNWIND $batch.rows AS row
MERGE (n:HwDeclarationSet {key: row.key})
  ON CREATE SET n = row
  ON MATCH SET n._l = true
RETURN collect(n {.key, .revision, ._revised, ._items, ._missing}) AS found

// update_declaration_sets: Declaration sets with a new revision, or with other missing declarations
UNWIND $batch.rows AS row
MATCH (n:HwDeclarationSet {key: row.key})
SET n += row.properties

// declarations: New declarations in their sets
CALL () { UNWIND $batch.sets AS key OPTIONAL MATCH (x:HwDeclarationSet {key: key}) RETURN collect([x]) AS sets }
UNWIND $batch.rows AS row
CREATE (n:HwDeclaration)
SET n = row.properties
FOREACH (s IN sets[row.set] | CREATE (n)-[:IN_SET]->(s))

// declarations_there: Stored declarations, with the properties from which their relationships follow
UNWIND $batch.rows AS key
MATCH (n:HwDeclaration {key: key})
RETURN collect(n {.key, .tenant, .subject, .subject_type, .inputs, .outputs, ._job, ._scope, ._feeds, ._consumes}) AS found

// current_declarations: Declarations that hold now, or no longer
UNWIND $batch.rows AS row
MATCH (n:HwDeclaration {key: row.key})
SET n.current = row.current

// declares: DECLARES from new declarations
CALL () {
  UNWIND $batch.datasets AS row
  MATCH (a:HwDeclaration {key: row.start})
  MATCH (b:HwDataset {key: row.end})
  CREATE (a)-[:DECLARES]->(b)
}
CALL () {
  UNWIND $batch.jobs AS row
  MATCH (a:HwDeclaration {key: row.start})
  MATCH (b:HwJob {key: row.end})
  CREATE (a)-[:DECLARES]->(b)
}
CALL () {
  UNWIND $batch.consumers AS row
  MATCH (a:HwDeclaration {key: row.start})
  MATCH (b:HwConsumer {key: row.end})
  CREATE (a)-[:DECLARES]->(b)
}
CALL () {
  UNWIND $batch.columns AS row
  MATCH (a:HwDeclaration {key: row.start})
  MATCH (b:HwColumn {key: row.end})
  CREATE (a)-[r:DECLARES]->(b)
  SET r = row.properties
}

// declare_feeds: Datasets that jobs declare to feed others now
UNWIND $batch.rows AS row
MATCH (a:HwDataset {key: row.start})
MATCH (b:HwDataset {key: row.end})
MERGE (a)-[r:FEEDS {key: row.key}]->(b)
  ON CREATE SET r = row.properties
SET r._own = true, r.declared = true

// declare_known_as: Aliases that datasets have now
UNWIND $batch.rows AS row
MATCH (a:HwDataset {key: row.start})
MATCH (b:HwAlias {key: row.end})
MERGE (a)-[r:KNOWN_AS]->(b)
SET r.type = row.type

// declare_reads: Datasets that jobs declare to read now
UNWIND $batch.rows AS row
MATCH (a:HwJob {key: row.start})
MATCH (b:HwDataset {key: row.end})
MERGE (a)-[r:READS]->(b)
SET r._own = true, r.declared = true

// declare_writes: Datasets that jobs declare to write now
UNWIND $batch.rows AS row
MATCH (a:HwJob {key: row.start})
MATCH (b:HwDataset {key: row.end})
MERGE (a)-[r:WRITES]->(b)
SET r._own = true, r.declared = true

// undeclare_feeds: Datasets that jobs no longer declare to feed others
UNWIND $batch.rows AS row
MATCH (:HwDataset)-[r:FEEDS {key: row.key}]->(:HwDataset)
USING INDEX SEEK r:FEEDS(key)
SET r._own = null, r.declared = CASE WHEN r.declarations IS NULL THEN null ELSE true END
WITH r
WHERE r.observed IS NULL AND r.possible IS NULL AND r.declared IS NULL
DELETE r

// undeclare_known_as: Aliases that datasets no longer have
UNWIND $batch.rows AS row
MATCH (a:HwDataset {key: row.start})-[r:KNOWN_AS]->(b:HwAlias {key: row.end})
DELETE r

// undeclare_reads: Datasets that jobs no longer declare to read
UNWIND $batch.rows AS row
MATCH (a:HwJob {key: row.start})
MATCH (b:HwDataset {key: row.end})
MATCH (a)-[r:READS]->(b)
SET r._own = null, r.declared = CASE WHEN r.declarations IS NULL THEN null ELSE true END
WITH r
WHERE r.observed IS NULL AND r.declared IS NULL
DELETE r

// undeclare_writes: Datasets that jobs no longer declare to write
UNWIND $batch.rows AS row
MATCH (a:HwJob {key: row.start})
MATCH (b:HwDataset {key: row.end})
MATCH (a)-[r:WRITES]->(b)
SET r._own = null, r.declared = CASE WHEN r.declarations IS NULL THEN null ELSE true END
WITH r
WHERE r.observed IS NULL AND r.declared IS NULL
DELETE r

// declared_consumes: Datasets and columns that declarations name as read by their consumers, or no longer
UNWIND $batch.rows AS row
MATCH (a:HwConsumer {key: row.start})
OPTIONAL MATCH (d:HwDataset {key: row.end})
OPTIONAL MATCH (c:HwColumn {key: row.end})
WITH a, row, coalesce(d, c) AS b
WHERE b IS NOT NULL
MERGE (a)-[r:CONSUMES]->(b)
WITH r, row, COLLECT {
  UNWIND coalesce(r.declarations, []) + row.new AS key
  WITH key WHERE NOT key IN row.gone
  RETURN DISTINCT key ORDER BY key
} AS left
SET r.declarations = left
WITH r
WHERE r.declarations = []
DELETE r

// declared_feeds: Datasets that feed others by what declarations name, or no longer
UNWIND $batch.rows AS row
MATCH (a:HwDataset {key: row.start})
MATCH (b:HwDataset {key: row.end})
MERGE (a)-[r:FEEDS {key: row.key}]->(b)
  ON CREATE SET r = row.properties
WITH r, row, COLLECT {
  UNWIND coalesce(r.declarations, []) + row.new AS key
  WITH key WHERE NOT key IN row.gone
  RETURN DISTINCT key ORDER BY key
} AS left
SET r.declarations = CASE WHEN left = [] THEN null ELSE left END,
    r.declared = CASE WHEN left = [] THEN r._own ELSE true END
WITH r
WHERE r.observed IS NULL AND r.possible IS NULL AND r.declared IS NULL
DELETE r

// declared_reads: Datasets that declarations name as read by their jobs, or no longer
UNWIND $batch.rows AS row
MATCH (a:HwJob {key: row.start})
MATCH (b:HwDataset {key: row.end})
MERGE (a)-[r:READS]->(b)
WITH r, row, COLLECT {
  UNWIND coalesce(r.declarations, []) + row.new AS key
  WITH key WHERE NOT key IN row.gone
  RETURN DISTINCT key ORDER BY key
} AS left
SET r.declarations = CASE WHEN left = [] THEN null ELSE left END,
    r.declared = CASE WHEN left = [] THEN r._own ELSE true END
WITH r
WHERE r.observed IS NULL AND r.declared IS NULL
DELETE r

// declared_writes: Datasets that declarations name as written by their jobs, or no longer
UNWIND $batch.rows AS row
MATCH (a:HwJob {key: row.start})
MATCH (b:HwDataset {key: row.end})
MERGE (a)-[r:WRITES]->(b)
WITH r, row, COLLECT {
  UNWIND coalesce(r.declarations, []) + row.new AS key
  WITH key WHERE NOT key IN row.gone
  RETURN DISTINCT key ORDER BY key
} AS left
SET r.declarations = CASE WHEN left = [] THEN null ELSE left END,
    r.declared = CASE WHEN left = [] THEN r._own ELSE true END
WITH r
WHERE r.observed IS NULL AND r.declared IS NULL
DELETE r
