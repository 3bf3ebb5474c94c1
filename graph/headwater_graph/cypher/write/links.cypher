// links: Observed relationships: create them, or widen their spans
CALL () { UNWIND $batch.jobs AS key OPTIONAL MATCH (x:HwJob {key: key}) RETURN collect([x]) AS jobs }
CALL () { UNWIND $batch.queries AS key OPTIONAL MATCH (x:HwQuery {key: key}) RETURN collect([x]) AS queries }
CALL () { UNWIND $batch.runs AS key OPTIONAL MATCH (x:HwRun {key: key}) RETURN collect([x]) AS runs }
CALL () { UNWIND $batch.plans AS key OPTIONAL MATCH (x:HwPlan {key: key}) RETURN collect([x]) AS plans }
CALL () { UNWIND $batch.datasets AS key OPTIONAL MATCH (x:HwDataset {key: key}) RETURN collect([x]) AS datasets }
CALL () { UNWIND $batch.columns AS key OPTIONAL MATCH (x:HwColumn {key: key}) RETURN collect([x]) AS columns }
CALL (jobs, datasets) {
  UNWIND $batch.job_reads AS row
  UNWIND jobs[row[0]] AS a
  UNWIND datasets[row[1]] AS b
  MERGE (a)-[r:READS]->(b)
  SET r.observed = true,
      r.first_seen = CASE WHEN r.first_seen <= row[2] OR row[2] IS NULL THEN r.first_seen ELSE row[2] END,
      r.last_seen = CASE WHEN r.last_seen >= row[3] OR row[3] IS NULL THEN r.last_seen ELSE row[3] END
}
CALL (jobs, datasets) {
  UNWIND $batch.job_writes AS row
  UNWIND jobs[row[0]] AS a
  UNWIND datasets[row[1]] AS b
  MERGE (a)-[r:WRITES]->(b)
  SET r.observed = true,
      r.first_seen = CASE WHEN r.first_seen <= row[2] OR row[2] IS NULL THEN r.first_seen ELSE row[2] END,
      r.last_seen = CASE WHEN r.last_seen >= row[3] OR row[3] IS NULL THEN r.last_seen ELSE row[3] END
  WITH r, [source IN row[4] WHERE NOT source IN coalesce(r._not_from, [])] AS excluded
  WHERE size(excluded) > 0
  SET r._not_from = coalesce(r._not_from, []) + excluded
}
CALL (queries, datasets) {
  UNWIND $batch.query_reads AS row
  UNWIND queries[row[0]] AS a
  UNWIND datasets[row[1]] AS b
  MERGE (a)-[r:READS]->(b)
  SET r.observed = true,
      r.first_seen = CASE WHEN r.first_seen <= row[2] OR row[2] IS NULL THEN r.first_seen ELSE row[2] END,
      r.last_seen = CASE WHEN r.last_seen >= row[3] OR row[3] IS NULL THEN r.last_seen ELSE row[3] END
}
CALL (queries, datasets) {
  UNWIND $batch.query_writes AS row
  UNWIND queries[row[0]] AS a
  UNWIND datasets[row[1]] AS b
  MERGE (a)-[r:WRITES]->(b)
  SET r.observed = true,
      r.first_seen = CASE WHEN r.first_seen <= row[2] OR row[2] IS NULL THEN r.first_seen ELSE row[2] END,
      r.last_seen = CASE WHEN r.last_seen >= row[3] OR row[3] IS NULL THEN r.last_seen ELSE row[3] END
}
CALL (datasets) {
  UNWIND $batch.feeds AS row
  UNWIND datasets[row[0]] AS a
  UNWIND datasets[row[1]] AS b
  MERGE (a)-[r:FEEDS {key: row[4].key}]->(b)
    ON CREATE SET r = row[4]
  SET r.first_seen = CASE WHEN r.possible THEN row[2] WHEN r.first_seen <= row[2] OR row[2] IS NULL THEN r.first_seen
                     ELSE row[2] END,
      r.last_seen = CASE WHEN r.possible THEN row[3] WHEN r.last_seen >= row[3] OR row[3] IS NULL THEN r.last_seen
                    ELSE row[3] END
  SET r.observed = true, r.possible = null
}
CALL () {
  UNWIND $batch.excluded_feeds AS row
  WITH DISTINCT row[4].key AS key
  MATCH ()-[r:FEEDS {key: key}]->()
  USING INDEX SEEK r:FEEDS(key)
  WHERE r.possible
  FOREACH (_ IN CASE WHEN r.declared THEN [1] ELSE [] END | SET r.possible = null, r.first_seen = null, r.last_seen = null)
  FOREACH (_ IN CASE WHEN r.declared THEN [] ELSE [1] END | DELETE r)
}
CALL (jobs, datasets) {
  UNWIND $batch.possible_feeds AS row
  UNWIND datasets[row[0]] AS a
  UNWIND datasets[row[1]] AS b
  UNWIND jobs[row[5]] AS job
  MATCH (job)-[w:WRITES]->(b)
  WHERE NOT a.key IN coalesce(w._not_from, [])
  MERGE (a)-[r:FEEDS {key: row[4].key}]->(b)
    ON CREATE SET r = row[4]
  WITH r, row
  WHERE r.observed IS NULL
  SET r.possible = true,
      r.first_seen = CASE WHEN r.first_seen <= row[2] OR row[2] IS NULL THEN r.first_seen ELSE row[2] END,
      r.last_seen = CASE WHEN r.last_seen >= row[3] OR row[3] IS NULL THEN r.last_seen ELSE row[3] END
}
CALL (jobs, datasets) {
  UNWIND $batch.job_feeds AS row
  UNWIND jobs[row[0]] AS a
  UNWIND datasets[row[1]] AS b
  MERGE (a)-[r:FEEDS {key: row[4].key}]->(b)
    ON CREATE SET r = row[4]
  SET r.possible = true,
      r.first_seen = CASE WHEN r.first_seen <= row[2] OR row[2] IS NULL THEN r.first_seen ELSE row[2] END,
      r.last_seen = CASE WHEN r.last_seen >= row[3] OR row[3] IS NULL THEN r.last_seen ELSE row[3] END
}
CALL (jobs, datasets) {
  UNWIND $batch.goes_into AS row
  UNWIND datasets[row[0]] AS a
  UNWIND jobs[row[1]] AS b
  MERGE (a)-[r:GOES_INTO]->(b)
  SET r.first_seen = CASE WHEN r.first_seen <= row[2] OR row[2] IS NULL THEN r.first_seen ELSE row[2] END,
      r.last_seen = CASE WHEN r.last_seen >= row[3] OR row[3] IS NULL THEN r.last_seen ELSE row[3] END
}
CALL (runs, plans) {
  UNWIND $batch.run_used AS row
  UNWIND runs[row[0]] AS a
  UNWIND plans[row[1]] AS b
  MERGE (a)-[r:USED]->(b)
  SET r._job = row[4],
      r.first_seen = CASE WHEN r.first_seen <= row[2] OR row[2] IS NULL THEN r.first_seen ELSE row[2] END,
      r.last_seen = CASE WHEN r.last_seen >= row[3] OR row[3] IS NULL THEN r.last_seen ELSE row[3] END
}
CALL (queries, plans) {
  UNWIND $batch.query_used AS row
  UNWIND queries[row[0]] AS a
  UNWIND plans[row[1]] AS b
  MERGE (a)-[r:USED]->(b)
  SET r._job = row[4],
      r.first_seen = CASE WHEN r.first_seen <= row[2] OR row[2] IS NULL THEN r.first_seen ELSE row[2] END,
      r.last_seen = CASE WHEN r.last_seen >= row[3] OR row[3] IS NULL THEN r.last_seen ELSE row[3] END
}
CALL (datasets) {
  UNWIND $batch.renamed AS row
  UNWIND datasets[row[0]] AS a
  UNWIND datasets[row[1]] AS b
  MERGE (a)-[r:RENAMED_TO]->(b)
  SET r.first_seen = CASE WHEN r.first_seen <= row[2] OR row[2] IS NULL THEN r.first_seen ELSE row[2] END,
      r.last_seen = CASE WHEN r.last_seen >= row[3] OR row[3] IS NULL THEN r.last_seen ELSE row[3] END
}
CALL (columns) {
  UNWIND $batch.columns_renamed AS row
  UNWIND columns[row[0]] AS a
  UNWIND columns[row[1]] AS b
  MERGE (a)-[r:RENAMED_TO]->(b)
  SET r.first_seen = CASE WHEN r.first_seen <= row[2] OR row[2] IS NULL THEN r.first_seen ELSE row[2] END,
      r.last_seen = CASE WHEN r.last_seen >= row[3] OR row[3] IS NULL THEN r.last_seen ELSE row[3] END
}
CALL (datasets, columns) {
  UNWIND $batch.columns_dropped AS row
  UNWIND datasets[row[0]] AS a
  UNWIND columns[row[1]] AS b
  MERGE (a)-[r:DROPPED]->(b)
  SET r.first_seen = CASE WHEN r.first_seen <= row[2] OR row[2] IS NULL THEN r.first_seen ELSE row[2] END,
      r.last_seen = CASE WHEN r.last_seen >= row[3] OR row[3] IS NULL THEN r.last_seen ELSE row[3] END
}

// plan_edges: Edges of plans whose lineage wasn't known before
CALL () { UNWIND $batch.columns AS key OPTIONAL MATCH (x:HwColumn {key: key}) RETURN collect([x]) AS columns }
CALL () { UNWIND $batch.datasets AS key OPTIONAL MATCH (x:HwDataset {key: key}) RETURN collect([x]) AS datasets }
CALL () { UNWIND $batch.plans AS key OPTIONAL MATCH (x:HwPlan {key: key}) RETURN collect([x]) AS plans }
WITH columns + datasets + plans AS nodes
FOREACH (edge IN $batch.derives |
  FOREACH (a IN nodes[edge.start] | FOREACH (b IN nodes[edge.end] |
    CREATE (a)-[r:DERIVES]->(b) SET r = edge.properties)))
FOREACH (edge IN $batch.influences |
  FOREACH (a IN nodes[edge.start] | FOREACH (b IN nodes[edge.end] |
    CREATE (a)-[r:INFLUENCES]->(b) SET r = edge.properties)))
FOREACH (edge IN $batch.generates |
  FOREACH (a IN nodes[edge.start] | FOREACH (b IN nodes[edge.end] |
    CREATE (a)-[r:GENERATES]->(b) SET r = edge.properties)))

// reword_derives: Expressions of DERIVES edges, reported again with another text
UNWIND $batch.rows AS row
MATCH ()-[r:DERIVES]->()
USING INDEX SEEK r:DERIVES(key)
WHERE r.key = row.key
SET r += row.properties

// reword_generates: Expressions of GENERATES edges, reported again with another text
UNWIND $batch.rows AS row
MATCH ()-[r:GENERATES]->()
USING INDEX SEEK r:GENERATES(key)
WHERE r.key = row.key
SET r += row.properties

// reword_influences: Expressions of INFLUENCES edges, reported again with another text
UNWIND $batch.rows AS row
MATCH ()-[r:INFLUENCES]->()
USING INDEX SEEK r:INFLUENCES(key)
WHERE r.key = row.key
SET r += row.properties

// forget: Delete relationships from rebuilt segments to runs and versions
UNWIND $batch.rows AS key
MATCH (s:HwSegment {key: key})-[r:IN_RUN|READ|WROTE]->()
USING INDEX SEEK s:HwSegment(key)
DELETE r
