// Runs that others started, locked
UNWIND $batch.keys AS key
MATCH (:Run {key: key})<-[:CHILD_OF]-(c:Run)
WITH DISTINCT c ORDER BY c.key
SET c._l = true
