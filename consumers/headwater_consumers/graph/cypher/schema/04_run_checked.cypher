// Runs of a job with outcomes of assertions, the latest first
CREATE INDEX headwater_run_checked IF NOT EXISTS
FOR (r:HwRun) ON (r._checked, r.last_seen)
