// Datasets: create the new ones, lock the others and return those to be joined
UNWIND $rows AS row
MERGE (n:Dataset {key: row.key})
  ON CREATE SET n = row.properties
  ON MATCH SET n._l = true
WITH n, row
WHERE n._l AND row.read
RETURN n.key AS key, properties(n) AS properties
