// runs: Runs: create the new ones with their outgoing relationships, lock the others and return them
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
  [(n)-[:OF]->(j:HwJob) | [j.key, j.name, j._scope]],
  [(n)-[:IN_QUERY]->(q:HwQuery) | q.key],
  [(n)-[r:CONSUMED|PRODUCED]->(d:HwDataset) | [type(r), d.key, properties(r)]]]) AS found

// update_runs: Changed runs, with their outgoing relationships
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

// run_ends: Runs with their parents, and the first run of their query that began after each was last seen
UNWIND $batch.keys AS key
MATCH (n:HwRun {key: key})
RETURN collect([
  n {.key, .tenant, .run_id, .state, .parent_run_id, ._query, .open, .inferred_state, .inferred_because, .inferred_by,
    first_seen: n.first_seen.epochMillis * 1000 + n.first_seen.microsecond % 1000,
    last_seen: n.last_seen.epochMillis * 1000 + n.last_seen.microsecond % 1000,
    inferred_ended_at: n.inferred_ended_at.epochMillis * 1000 + n.inferred_ended_at.microsecond % 1000,
    _inferred_before: n._inferred_before.epochMillis * 1000 + n._inferred_before.microsecond % 1000},
  head(COLLECT {
    MATCH (l:HwRun)
    USING INDEX l:HwRun(_query, first_seen)
    WHERE l._query = n._query AND l.first_seen > n.last_seen
    RETURN l {.key, .tenant, .run_id, .state, .parent_run_id, ._query,
      first_seen: l.first_seen.epochMillis * 1000 + l.first_seen.microsecond % 1000,
      last_seen: l.last_seen.epochMillis * 1000 + l.last_seen.microsecond % 1000} ORDER BY l._query, l.first_seen, l.key LIMIT 1
  }),
  head([(n)-[:CHILD_OF]->(p:HwRun) | p {.key, .tenant, .run_id, .state, .parent_run_id, ._query, .open, .inferred_state, .inferred_because, .inferred_by,
    first_seen: p.first_seen.epochMillis * 1000 + p.first_seen.microsecond % 1000,
    last_seen: p.last_seen.epochMillis * 1000 + p.last_seen.microsecond % 1000,
    inferred_ended_at: p.inferred_ended_at.epochMillis * 1000 + p.inferred_ended_at.microsecond % 1000,
    _inferred_before: p._inferred_before.epochMillis * 1000 + p._inferred_before.microsecond % 1000}])]) AS found

// update_run_ends: Properties of runs with an inferred end, or without any end
UNWIND $batch.rows AS row
MATCH (n:HwRun {key: row.key})
SET n += row.properties

// run_parents: Parents of runs
UNWIND $batch.rows AS row
MATCH (n:HwRun {key: row.start})
MATCH (p:HwRun {key: row.end})
OPTIONAL MATCH (n)-[stale:CHILD_OF]->(other)
WHERE other <> p
DELETE stale
WITH DISTINCT n, p
MERGE (n)-[:CHILD_OF]->(p)

// run_families: Runs with the latest observation of any child, and with their children that reported no end
UNWIND $batch.keys AS key
MATCH (n:HwRun {key: key})
CALL (n) {
  OPTIONAL MATCH (n)<-[:CHILD_OF]-(c:HwRun)
  RETURN max(c.last_seen) AS last,
    collect(CASE WHEN NOT coalesce(c.state, '') IN ['COMPLETE', 'FAIL', 'ABORT'] THEN c END) AS open
}
RETURN collect([
  n {.key, .tenant, .run_id, .state, .parent_run_id, ._query, .open, .inferred_state, .inferred_because, .inferred_by,
    first_seen: n.first_seen.epochMillis * 1000 + n.first_seen.microsecond % 1000,
    last_seen: n.last_seen.epochMillis * 1000 + n.last_seen.microsecond % 1000,
    inferred_ended_at: n.inferred_ended_at.epochMillis * 1000 + n.inferred_ended_at.microsecond % 1000,
    _inferred_before: n._inferred_before.epochMillis * 1000 + n._inferred_before.microsecond % 1000},
  head(COLLECT {
    MATCH (l:HwRun)
    USING INDEX l:HwRun(_query, first_seen)
    WHERE l._query = n._query AND l.first_seen > n.last_seen
    RETURN l {.key, .tenant, .run_id, .state, .parent_run_id, ._query,
      first_seen: l.first_seen.epochMillis * 1000 + l.first_seen.microsecond % 1000,
      last_seen: l.last_seen.epochMillis * 1000 + l.last_seen.microsecond % 1000} ORDER BY l._query, l.first_seen, l.key LIMIT 1
  }),
  head([(n)-[:CHILD_OF]->(p:HwRun) | p {.key, .tenant, .run_id, .state, .parent_run_id, ._query, .open, .inferred_state, .inferred_because, .inferred_by,
    first_seen: p.first_seen.epochMillis * 1000 + p.first_seen.microsecond % 1000,
    last_seen: p.last_seen.epochMillis * 1000 + p.last_seen.microsecond % 1000,
    inferred_ended_at: p.inferred_ended_at.epochMillis * 1000 + p.inferred_ended_at.microsecond % 1000,
    _inferred_before: p._inferred_before.epochMillis * 1000 + p._inferred_before.microsecond % 1000}]),
  last.epochMillis * 1000 + last.microsecond % 1000,
  COLLECT {
    UNWIND open AS c
    RETURN [
      c {.key, .tenant, .run_id, .state, .parent_run_id, ._query, .open, .inferred_state, .inferred_because, .inferred_by,
        first_seen: c.first_seen.epochMillis * 1000 + c.first_seen.microsecond % 1000,
        last_seen: c.last_seen.epochMillis * 1000 + c.last_seen.microsecond % 1000,
        inferred_ended_at: c.inferred_ended_at.epochMillis * 1000 + c.inferred_ended_at.microsecond % 1000,
        _inferred_before: c._inferred_before.epochMillis * 1000 + c._inferred_before.microsecond % 1000},
      head(COLLECT {
        MATCH (l:HwRun)
        USING INDEX l:HwRun(_query, first_seen)
        WHERE l._query = c._query AND l.first_seen > c.last_seen
        RETURN l {.key, .tenant, .run_id, .state, .parent_run_id, ._query,
          first_seen: l.first_seen.epochMillis * 1000 + l.first_seen.microsecond % 1000,
          last_seen: l.last_seen.epochMillis * 1000 + l.last_seen.microsecond % 1000} ORDER BY l._query, l.first_seen, l.key LIMIT 1
      })]
  }]) AS found

// runs_before: Runs without a reported end, if the next run of their query after their last observation may begin in a time span
UNWIND $batch.rows AS row
CALL (row) {
  WITH row, head(COLLECT {
    MATCH (e:HwRun)
    USING INDEX e:HwRun(_query, first_seen)
    WHERE e._query = row.query AND e.first_seen < row.first
    RETURN e.first_seen ORDER BY e._query DESC, e.first_seen DESC LIMIT 1
  }) AS since
  MATCH (r:HwRun)
  USING INDEX r:HwRun(_query, last_seen)
  WHERE r._query = row.query AND r.last_seen >= coalesce(since, datetime('0001-01-01T00:00:00Z')) AND r.last_seen < row.until
    AND NOT coalesce(r.state, '') IN ['COMPLETE', 'FAIL', 'ABORT']
  RETURN r.key AS key
}
RETURN collect(DISTINCT key) AS found

// lock_runs: Lock runs
UNWIND $batch.keys AS key
MATCH (n:HwRun {key: key})
SET n._l = true

// lock_children: Lock children of runs
UNWIND $batch.keys AS key
MATCH (r:HwRun {key: key})<-[:CHILD_OF]-(c:HwRun)
USING INDEX SEEK r:HwRun(key)
WITH DISTINCT c ORDER BY c.key
SET c._l = true

// plans: Plans: create the new ones with their job, lock the others and return them
UNWIND $batch.rows AS row
MERGE (n:HwPlan {key: row.key})
  ON CREATE SET n = row.properties
  ON MATCH SET n._l = true
WITH n, row, n._l IS NULL AS created
CALL (n, row, created) {
  WITH n, row WHERE created
  MATCH (j:HwJob {key: row.properties.job})
  CREATE (n)-[:OF]->(j)
}
WITH n, created
WHERE NOT created
RETURN collect(n {.*,
    first_seen: n.first_seen.epochMillis * 1000 + n.first_seen.microsecond % 1000,
    last_seen: n.last_seen.epochMillis * 1000 + n.last_seen.microsecond % 1000}) AS found

// update_plans: Plans that changed
UNWIND $batch.rows AS row
MATCH (n:HwPlan {key: row.key})
SET n += row.properties
