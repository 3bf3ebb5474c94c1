// aliases: Aliases: create the new ones
UNWIND $batch.rows AS row
MERGE (n:HwAlias {key: row.key})
  ON CREATE SET n = row

// datasets: Datasets: create the new ones, lock the others and return those to be joined
UNWIND $batch.rows AS row
MERGE (n:HwDataset {key: row.key})
  ON CREATE SET n = row.properties
  ON MATCH SET n._l = coalesce(NOT n._l, true)
WITH n, row
WHERE n._l IS NOT NULL AND row.read
RETURN collect(n {.*,
    first_seen: n.first_seen.epochMillis * 1000 + n.first_seen.microsecond % 1000,
    last_seen: n.last_seen.epochMillis * 1000 + n.last_seen.microsecond % 1000,
    dropped_at: n.dropped_at.epochMillis * 1000 + n.dropped_at.microsecond % 1000,
    emptied_at: n.emptied_at.epochMillis * 1000 + n.emptied_at.microsecond % 1000}) AS found

// update_datasets: Datasets that changed
UNWIND $batch.rows AS row
MATCH (n:HwDataset {key: row.key})
SET n += row.properties

// columns: Columns: create the new ones with their dataset, lock the others and return those to be joined
CALL () { UNWIND $batch.datasets AS key OPTIONAL MATCH (x:HwDataset {key: key}) RETURN collect([x]) AS datasets }
UNWIND $batch.rows AS row
MERGE (n:HwColumn {key: row.key})
  ON CREATE SET n = row.properties
  ON MATCH SET n._l = true
WITH n, row, datasets, n._l IS NULL AS created
FOREACH (d IN CASE WHEN created THEN datasets[row.dataset] ELSE [] END |
  CREATE (d)-[r:HAS_COLUMN]->(n) SET r = row.validity)
WITH n, row, created
WHERE NOT created AND row.read
MATCH (:HwDataset)-[r:HAS_COLUMN]->(n)
RETURN collect([properties(n), r {.*,
    first_seen: r.first_seen.epochMillis * 1000 + r.first_seen.microsecond % 1000,
    last_seen: r.last_seen.epochMillis * 1000 + r.last_seen.microsecond % 1000}]) AS found

// update_columns: Columns that changed
UNWIND $batch.rows AS row
MATCH (n:HwColumn {key: row.key})
USING INDEX SEEK n:HwColumn(key)
MATCH (:HwDataset)-[r:HAS_COLUMN]->(n)
SET n += row.properties, r += row.validity

// versions: Versions: create the new ones with their dataset, lock the others and return them
CALL () { UNWIND $batch.datasets AS key OPTIONAL MATCH (x:HwDataset {key: key}) RETURN collect([x]) AS datasets }
UNWIND $batch.rows AS row
MERGE (n:HwVersion {key: row.key})
  ON CREATE SET n = row.properties
  ON MATCH SET n._l = true
WITH n, row, datasets, n._l IS NULL AS created
FOREACH (d IN CASE WHEN created THEN datasets[row.dataset] ELSE [] END | CREATE (n)-[:OF]->(d))
WITH n, created
WHERE NOT created
RETURN collect(n {.*,
    first_seen: n.first_seen.epochMillis * 1000 + n.first_seen.microsecond % 1000,
    last_seen: n.last_seen.epochMillis * 1000 + n.last_seen.microsecond % 1000}) AS found

// update_versions: Versions that changed
UNWIND $batch.rows AS row
MATCH (n:HwVersion {key: row.key})
SET n += row.properties

// schema_versions: Schemas of datasets: create the new ones with their dataset, lock the others and return them
CALL () { UNWIND $batch.datasets AS key OPTIONAL MATCH (x:HwDataset {key: key}) RETURN collect([x]) AS datasets }
UNWIND $batch.rows AS row
MERGE (n:HwSchemaVersion {key: row.key})
  ON CREATE SET n = row.properties
  ON MATCH SET n._l = true
WITH n, row, datasets, n._l IS NULL AS created
FOREACH (d IN CASE WHEN created THEN datasets[row.dataset] ELSE [] END | CREATE (n)-[:OF]->(d))
WITH n, created
WHERE NOT created
RETURN collect(n {.key,
    first_seen: n.first_seen.epochMillis * 1000 + n.first_seen.microsecond % 1000,
    last_seen: n.last_seen.epochMillis * 1000 + n.last_seen.microsecond % 1000}) AS found

// update_schema_versions: Schemas of datasets that were seen earlier or later
UNWIND $batch.rows AS row
MATCH (n:HwSchemaVersion {key: row.key})
SET n += row.properties
