// Runs, locked
UNWIND $batch.keys AS key
MATCH (n:Run {key: key})
SET n._l = true
