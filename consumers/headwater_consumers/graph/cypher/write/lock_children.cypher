// Runs that others started, locked
UNWIND $batch.keys AS key
MATCH (r:Run {key: key})<-[:CHILD_OF]-(c:Run)
USING INDEX SEEK r:Run(key)
WITH DISTINCT c ORDER BY c.key
SET c._l = true
