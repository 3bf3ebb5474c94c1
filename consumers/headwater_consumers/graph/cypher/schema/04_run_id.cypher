// Runs by id: one that begins with a few characters
CREATE INDEX headwater_run_id IF NOT EXISTS
FOR (r:HwRun) ON (r._id_start)
