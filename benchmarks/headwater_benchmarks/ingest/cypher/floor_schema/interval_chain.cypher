// Intervals of a query in batch order
CREATE INDEX floor_interval_chain IF NOT EXISTS
FOR (n:HwInterval) ON (n.query, n.batch_id)
