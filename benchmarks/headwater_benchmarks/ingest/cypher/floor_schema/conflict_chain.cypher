// Conflicts of a query in batch order
CREATE INDEX floor_conflict_chain IF NOT EXISTS
FOR (n:HwConflict) ON (n.query, n.batch_id)
