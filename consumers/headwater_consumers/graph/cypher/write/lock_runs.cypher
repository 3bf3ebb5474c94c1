// Runs, locked
UNWIND $batch.keys AS key
MATCH (n:HwRun {key: key})
SET n._l = true
