// Summaries of a query with micro-batches among some, with all that they used
MATCH (s:HwSummary)
WHERE s.query = $given.query AND s.first_batch <= $given.last AND s.last_batch >= $given.first
WITH s ORDER BY s.first_batch, s.key LIMIT $given.limit
RETURN s {.key, .batch_starts, .batch_ends, .first_time, .last_time} AS summary,
  [(s)-[u:CONSUMED|PRODUCED]->(d:HwDataset) | [type(u), d.key, u {.*}]] AS uses
