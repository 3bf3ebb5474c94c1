// Parents of runs
UNWIND $batch.rows AS row
MATCH (n:HwRun {key: row.start})
MATCH (p:HwRun {key: row.end})
OPTIONAL MATCH (n)-[stale:CHILD_OF]->(other)
WHERE other <> p
DELETE stale
WITH DISTINCT n, p
MERGE (n)-[:CHILD_OF]->(p)
