// Retentions: the later day of each scope
UNWIND $batch.rows AS row
MERGE (n:HwRetention {key: row.key})
SET n += row.identity,
  n.summarize_before = CASE WHEN row.summarize IS NULL OR n.summarize_before >= row.summarize
    THEN n.summarize_before ELSE row.summarize END,
  n.drop_before = CASE WHEN row.drop IS NULL OR n.drop_before >= row.drop THEN n.drop_before ELSE row.drop END
