// Segments that are new or changed, with what leaves them
CALL () { UNWIND $batch.queries AS key OPTIONAL MATCH (x:HwQuery {key: key}) RETURN collect([x]) AS queries }
CALL () { UNWIND $batch.runs AS key OPTIONAL MATCH (x:HwRun {key: key}) RETURN collect([x]) AS runs }
CALL () { UNWIND $batch.datasets AS key OPTIONAL MATCH (x:HwDataset {key: key}) RETURN collect([x]) AS datasets }
CALL () { UNWIND $batch.versions AS key OPTIONAL MATCH (x:HwVersion {key: key}) RETURN collect([x]) AS versions }
UNWIND $batch.rows AS row
MERGE (n:HwSegment {key: row.key})
SET n += row.properties
FOREACH (at IN row.query | FOREACH (x IN queries[at] | CREATE (n)-[:IN_QUERY]->(x)))
FOREACH (of IN row.runs | FOREACH (x IN runs[of[0]] | MERGE (n)-[r:IN_RUN]->(x) SET r.batches = of[1]))
FOREACH (use IN row.consumed |
  FOREACH (x IN datasets[use.to] |
    MERGE (n)-[r:CONSUMED {key: use.key}]->(x) SET r += use.properties))
FOREACH (use IN row.produced |
  FOREACH (x IN datasets[use.to] |
    MERGE (n)-[r:PRODUCED {key: use.key}]->(x) SET r += use.properties))
FOREACH (of IN row.read |
  FOREACH (x IN versions[of[0]] |
    MERGE (n)-[r:READ]->(x)
    SET r.batches = coalesce(r.batches, []) + of[1],
      r.first_time = CASE WHEN of[2] < r.first_time OR r.first_time IS NULL THEN of[2] ELSE r.first_time END))
FOREACH (of IN row.wrote |
  FOREACH (x IN versions[of[0]] |
    MERGE (n)-[r:WROTE]->(x)
    SET r.batches = coalesce(r.batches, []) + of[1],
      r.first_time = CASE WHEN of[2] < r.first_time OR r.first_time IS NULL THEN of[2] ELSE r.first_time END))
