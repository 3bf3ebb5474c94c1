// When the runs of a streaming query began
CREATE INDEX headwater_run_starts IF NOT EXISTS
FOR (r:HwRun) ON (r._query, r.first_seen)
