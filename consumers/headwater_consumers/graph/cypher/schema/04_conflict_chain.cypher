// Conflicts of a query in batch order
CREATE INDEX headwater_conflict_chain IF NOT EXISTS
FOR (c:Conflict) ON (c.query, c.batch_id)
