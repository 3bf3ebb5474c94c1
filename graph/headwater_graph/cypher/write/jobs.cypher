// jobs: Jobs: create the new ones, lock the others and return those to be joined
UNWIND $batch.rows AS row
MERGE (n:HwJob {key: row.key})
  ON CREATE SET n = row.properties
  ON MATCH SET n._l = coalesce(NOT n._l, true)
WITH n, row
WHERE n._l IS NOT NULL AND row.read
RETURN collect(n {.*,
    first_seen: n.first_seen.epochMillis * 1000 + n.first_seen.microsecond % 1000,
    last_seen: n.last_seen.epochMillis * 1000 + n.last_seen.microsecond % 1000}) AS found

// update_jobs: Jobs that changed
UNWIND $batch.rows AS row
MATCH (n:HwJob {key: row.key})
SET n += row.properties

// queries: Queries: create the new ones, lock the others and return them
UNWIND $batch.rows AS row
MERGE (n:HwQuery {key: row.key})
  ON CREATE SET n = row.properties
  ON MATCH SET n._l = true
WITH n
WHERE n._l
RETURN collect(n {.*,
    first_seen: n.first_seen.epochMillis * 1000 + n.first_seen.microsecond % 1000,
    last_seen: n.last_seen.epochMillis * 1000 + n.last_seen.microsecond % 1000}) AS found

// update_queries: Queries that changed
UNWIND $batch.rows AS row
MATCH (n:HwQuery {key: row.key})
SET n += row.properties

// query_jobs: Jobs of queries
UNWIND $batch.rows AS row
MATCH (q:HwQuery {key: row.start})
MATCH (j:HwJob {key: row.end})
MERGE (q)-[:OF]->(j)

// lock_queries: Lock queries
UNWIND $batch.rows AS key
MATCH (n:HwQuery {key: key})
SET n._l = true

// retention_of_queries: Queries with their jobs, and all retention rules
CALL () {
  MATCH (n:HwRetention)
  USING INDEX n:HwRetention(key)
  WHERE n.key >= ''
  RETURN collect(n {.key, summarize_before: n.summarize_before.epochMillis * 1000 + n.summarize_before.microsecond % 1000,
    drop_before: n.drop_before.epochMillis * 1000 + n.drop_before.microsecond % 1000}) AS retentions
}
UNWIND $batch.rows AS key
MATCH (q:HwQuery {key: key})
RETURN collect([q.key, q.tenant, q.query_id, q._retired, [(q)-[:OF]->(j:HwJob) | [j.namespace, j.name]], retentions]) AS found

// retentions: Retention rules: the later day of each scope is kept
UNWIND $batch.rows AS row
MERGE (n:HwRetention {key: row.key})
SET n += row.identity,
  n.summarize_before = CASE WHEN row.summarize IS NULL OR n.summarize_before >= row.summarize
    THEN n.summarize_before ELSE row.summarize END,
  n.drop_before = CASE WHEN row.drop IS NULL OR n.drop_before >= row.drop THEN n.drop_before ELSE row.drop END
