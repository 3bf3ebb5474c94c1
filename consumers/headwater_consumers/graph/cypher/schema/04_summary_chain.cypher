// Summaries of a query in order of their first batch: what a search by batch id or offset begins with
CREATE INDEX headwater_summary_chain IF NOT EXISTS
FOR (n:HwSummary) ON (n.query, n.first_batch)
