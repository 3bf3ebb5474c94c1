// Runs that others started, locked
UNWIND $batch.keys AS key
MATCH (r:HwRun {key: key})<-[:CHILD_OF]-(c:HwRun)
USING INDEX SEEK r:HwRun(key)
WITH DISTINCT c ORDER BY c.key
SET c._l = true
