// Queries: create the new ones, lock the others and return them
UNWIND $batch.rows AS row
MERGE (n:HwQuery {key: row.key})
  ON CREATE SET n = row.properties
  ON MATCH SET n._l = true
WITH n
WHERE n._l
RETURN collect(n {.*,
    first_seen: n.first_seen.epochMillis * 1000 + n.first_seen.microsecond % 1000,
    last_seen: n.last_seen.epochMillis * 1000 + n.last_seen.microsecond % 1000}) AS found
