// Columns: create the new ones with their dataset, lock the others and return those to be joined
CALL () { UNWIND $datasets AS key OPTIONAL MATCH (x:Dataset {key: key}) RETURN collect([x]) AS datasets }
UNWIND $rows AS row
MERGE (n:Column {key: row.key})
  ON CREATE SET n = row.properties
  ON MATCH SET n._l = true
WITH n, row, datasets, n._l IS NULL AS created
FOREACH (d IN CASE WHEN created THEN datasets[row.dataset] ELSE [] END |
  CREATE (d)-[r:HAS_COLUMN]->(n) SET r = row.validity)
WITH n, row, created
WHERE NOT created AND row.read
MATCH (:Dataset)-[r:HAS_COLUMN]->(n)
RETURN n.key AS key, properties(n) AS properties, properties(r) AS validity
