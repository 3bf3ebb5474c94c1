// Schemas of datasets: create the new ones with their dataset, lock the others and return them
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
