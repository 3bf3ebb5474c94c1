// Intervals of a query in batch order: neighbours, and a search by batch id
CREATE INDEX headwater_interval_chain IF NOT EXISTS
FOR (i:Interval) ON (i.query, i.batch_id)
