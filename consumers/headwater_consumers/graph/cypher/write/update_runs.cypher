// Runs that changed, with what leaves them
CALL () { UNWIND $batch.jobs AS key OPTIONAL MATCH (x:HwJob {key: key}) RETURN collect([x]) AS jobs }
CALL () { UNWIND $batch.queries AS key OPTIONAL MATCH (x:HwQuery {key: key}) RETURN collect([x]) AS queries }
CALL () { UNWIND $batch.datasets AS key OPTIONAL MATCH (x:HwDataset {key: key}) RETURN collect([x]) AS datasets }
CALL () { UNWIND $batch.versions AS key OPTIONAL MATCH (x:HwVersion {key: key}) RETURN collect([x]) AS versions }
UNWIND $batch.rows AS row
MATCH (n:HwRun {key: row.key})
OPTIONAL MATCH (n)-[stale:READ|WROTE]->()
DELETE stale
WITH DISTINCT n, row, jobs, queries, datasets, versions
SET n += row.properties
FOREACH (at IN row.jobs | FOREACH (x IN jobs[at] | MERGE (n)-[:OF]->(x)))
FOREACH (at IN row.queries | FOREACH (x IN queries[at] | MERGE (n)-[:IN_QUERY]->(x)))
FOREACH (use IN row.consumed |
  FOREACH (x IN datasets[use.to] |
    MERGE (n)-[r:CONSUMED {key: use.properties.key}]->(x) SET r = use.properties))
FOREACH (use IN row.produced |
  FOREACH (x IN datasets[use.to] |
    MERGE (n)-[r:PRODUCED {key: use.properties.key}]->(x) SET r = use.properties))
FOREACH (at IN row.read | FOREACH (x IN versions[at] | CREATE (n)-[:READ]->(x)))
FOREACH (at IN row.wrote | FOREACH (x IN versions[at] | CREATE (n)-[:WROTE]->(x)))
