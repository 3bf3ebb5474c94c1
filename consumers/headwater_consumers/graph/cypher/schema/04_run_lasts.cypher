// When the runs of a streaming query were last seen
CREATE INDEX headwater_run_lasts IF NOT EXISTS
FOR (r:HwRun) ON (r._query, r.last_seen)
