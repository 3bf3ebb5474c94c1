// Parents of runs
UNWIND $batch.rows AS row
MATCH (n:Run {key: row.start})
MATCH (p:Run {key: row.end})
OPTIONAL MATCH (n)-[stale:CHILD_OF]->(other)
WHERE other <> p
DELETE stale
WITH DISTINCT n, p
MERGE (n)-[:CHILD_OF]->(p)
