// Which micro-batches of a query are known, and how; those from $from on, and before $until
MATCH (i:Interval) WHERE i.query = $query AND i.batch_id >= $from AND i.batch_id < $until
RETURN i.batch_id AS batch, i.provenance AS provenance
ORDER BY i.query, i.batch_id
