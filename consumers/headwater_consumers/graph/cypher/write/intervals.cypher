// Intervals: create the new ones with what leaves them, lock the others and return them
CALL () { UNWIND $batch.queries AS key OPTIONAL MATCH (x:Query {key: key}) RETURN collect([x]) AS queries }
CALL () { UNWIND $batch.runs AS key OPTIONAL MATCH (x:Run {key: key}) RETURN collect([x]) AS runs }
CALL () { UNWIND $batch.datasets AS key OPTIONAL MATCH (x:Dataset {key: key}) RETURN collect([x]) AS datasets }
CALL () { UNWIND $batch.versions AS key OPTIONAL MATCH (x:Version {key: key}) RETURN collect([x]) AS versions }
UNWIND $batch.rows AS row
MERGE (n:Interval {key: row.key})
  ON CREATE SET n = row.properties
  ON MATCH SET n._l = true
WITH n, row, queries, runs, datasets, versions, n._l IS NULL AS created
WITH n, row, queries, runs, datasets, versions, created, CASE WHEN created THEN [row] ELSE [] END AS new
FOREACH (made IN new |
  FOREACH (x IN queries[made.query] | CREATE (n)-[:IN_QUERY]->(x))
  FOREACH (at IN made.runs | FOREACH (x IN runs[at] | CREATE (n)-[:IN_RUN]->(x)))
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
    processing_time: n.processing_time.epochMillis * 1000 + n.processing_time.microsecond % 1000,
    watermark_before: n.watermark_before.epochMillis * 1000 + n.watermark_before.microsecond % 1000,
    watermark_after: n.watermark_after.epochMillis * 1000 + n.watermark_after.microsecond % 1000},
  [(n)-[r:CONSUMED|PRODUCED]->(d:Dataset) | [type(r), d.key, properties(r)]]]) AS found
