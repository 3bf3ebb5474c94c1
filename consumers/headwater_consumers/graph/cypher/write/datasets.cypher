// Datasets: create the new ones, lock the others and return those to be joined
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
