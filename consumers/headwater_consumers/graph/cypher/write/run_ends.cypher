// Runs with their parents, and the first run of their query that began after each was last seen
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
