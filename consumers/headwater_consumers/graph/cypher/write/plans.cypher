// Plans: create the new ones with their job, lock the others and return them
UNWIND $batch.rows AS row
MERGE (n:HwPlan {key: row.key})
  ON CREATE SET n = row.properties
  ON MATCH SET n._l = true
WITH n, row, n._l IS NULL AS created
CALL (n, row, created) {
  WITH n, row WHERE created
  MATCH (j:HwJob {key: row.properties.job})
  CREATE (n)-[:OF]->(j)
}
WITH n, created
WHERE NOT created
RETURN collect(n {.*,
    first_seen: n.first_seen.epochMillis * 1000 + n.first_seen.microsecond % 1000,
    last_seen: n.last_seen.epochMillis * 1000 + n.last_seen.microsecond % 1000}) AS found
