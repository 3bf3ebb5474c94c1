// Queries: create the new ones, lock the others and return them
UNWIND $rows AS row
MERGE (n:Query {key: row.key})
  ON CREATE SET n = row.properties
  ON MATCH SET n._l = true
WITH n
WHERE n._l
RETURN n.key AS key, properties(n) AS properties
