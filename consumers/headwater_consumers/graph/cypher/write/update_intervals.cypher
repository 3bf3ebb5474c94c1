// Intervals that changed, written anew with what leaves them
CALL () { UNWIND $batch.runs AS key OPTIONAL MATCH (x:Run {key: key}) RETURN collect([x]) AS runs }
CALL () { UNWIND $batch.datasets AS key OPTIONAL MATCH (x:Dataset {key: key}) RETURN collect([x]) AS datasets }
CALL () { UNWIND $batch.versions AS key OPTIONAL MATCH (x:Version {key: key}) RETURN collect([x]) AS versions }
UNWIND $batch.rows AS row
MATCH (n:Interval {key: row.key})
OPTIONAL MATCH (n)-[stale:IN_RUN|CONSUMED|PRODUCED|READ|WROTE]->()
DELETE stale
WITH DISTINCT n, row, runs, datasets, versions
SET n = row.properties, n._l = true
WITH n, row AS made, runs, datasets, versions
FOREACH (at IN made.runs | FOREACH (x IN runs[at] | CREATE (n)-[:IN_RUN]->(x)))
FOREACH (use IN made.consumed |
  FOREACH (x IN datasets[use.to] | CREATE (n)-[r:CONSUMED]->(x) SET r = use.properties))
FOREACH (use IN made.produced |
  FOREACH (x IN datasets[use.to] | CREATE (n)-[r:PRODUCED]->(x) SET r = use.properties))
FOREACH (at IN made.read | FOREACH (x IN versions[at] | CREATE (n)-[:READ]->(x)))
FOREACH (at IN made.wrote | FOREACH (x IN versions[at] | CREATE (n)-[:WROTE]->(x)))
