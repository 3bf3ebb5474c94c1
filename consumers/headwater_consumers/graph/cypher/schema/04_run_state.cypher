// Runs by state, the latest first: the failed ones of the estate
CREATE INDEX headwater_run_state IF NOT EXISTS
FOR (r:HwRun) ON (r.state, r.last_seen)
