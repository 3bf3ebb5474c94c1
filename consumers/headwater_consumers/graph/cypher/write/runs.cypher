// Runs: create the new ones with what leaves them, lock the others and return them
CALL () { UNWIND $batch.jobs AS key OPTIONAL MATCH (x:HwJob {key: key}) RETURN collect([x]) AS jobs }
CALL () { UNWIND $batch.queries AS key OPTIONAL MATCH (x:HwQuery {key: key}) RETURN collect([x]) AS queries }
CALL () { UNWIND $batch.datasets AS key OPTIONAL MATCH (x:HwDataset {key: key}) RETURN collect([x]) AS datasets }
CALL () { UNWIND $batch.versions AS key OPTIONAL MATCH (x:HwVersion {key: key}) RETURN collect([x]) AS versions }
UNWIND $batch.rows AS row
MERGE (n:HwRun {key: row.key})
  ON CREATE SET n = row.properties
  ON MATCH SET n._l = true
WITH n, row, jobs, queries, datasets, versions, n._l IS NULL AS created
WITH n, row, jobs, queries, datasets, versions, created, CASE WHEN created THEN [row] ELSE [] END AS new
FOREACH (made IN new |
  FOREACH (at IN made.jobs | FOREACH (x IN jobs[at] | CREATE (n)-[:OF]->(x)))
  FOREACH (at IN made.queries | FOREACH (x IN queries[at] | CREATE (n)-[:IN_QUERY]->(x)))
  FOREACH (use IN made.consumed |
    FOREACH (x IN datasets[use.to] | CREATE (n)-[r:CONSUMED]->(x) SET r = use.properties))
  FOREACH (use IN made.produced |
    FOREACH (x IN datasets[use.to] | CREATE (n)-[r:PRODUCED]->(x) SET r = use.properties))
  FOREACH (at IN made.read | FOREACH (x IN versions[at] | CREATE (n)-[:READ]->(x)))
  FOREACH (at IN made.wrote | FOREACH (x IN versions[at] | CREATE (n)-[:WROTE]->(x))))
WITH n, created
WHERE NOT created
RETURN collect([
  n {.*,
    first_seen: n.first_seen.epochMillis * 1000 + n.first_seen.microsecond % 1000,
    last_seen: n.last_seen.epochMillis * 1000 + n.last_seen.microsecond % 1000,
    started_at: n.started_at.epochMillis * 1000 + n.started_at.microsecond % 1000,
    ended_at: n.ended_at.epochMillis * 1000 + n.ended_at.microsecond % 1000,
    nominal_start: n.nominal_start.epochMillis * 1000 + n.nominal_start.microsecond % 1000,
    nominal_end: n.nominal_end.epochMillis * 1000 + n.nominal_end.microsecond % 1000},
  [(n)-[:OF]->(j:HwJob) | [j.key, j.name]],
  [(n)-[:IN_QUERY]->(q:HwQuery) | q.key],
  [(n)-[r:CONSUMED|PRODUCED]->(d:HwDataset) | [type(r), d.key, properties(r)]]]) AS found
