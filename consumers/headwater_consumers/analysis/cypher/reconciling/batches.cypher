// Which micro-batches of a query are known, and how; those from $given.from on, and before $given.until
MATCH (i:Interval) WHERE i.query = $given.query AND i.batch_id >= $given.from AND i.batch_id < $given.until
RETURN i.batch_id AS batch, i.provenance AS provenance
ORDER BY i.query, i.batch_id
