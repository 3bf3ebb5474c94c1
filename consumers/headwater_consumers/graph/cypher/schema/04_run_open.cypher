// Runs without an end, by when they were last seen
CREATE INDEX headwater_run_open IF NOT EXISTS
FOR (r:HwRun) ON (r.open, r.last_seen)
