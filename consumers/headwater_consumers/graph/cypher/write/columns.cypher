// Columns: create the new ones with their dataset, lock the others and return those to be joined
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
