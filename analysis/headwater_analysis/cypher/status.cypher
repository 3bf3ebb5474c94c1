// failed: Datasets among these that are outputs of the latest failed runs
UNWIND ['FAIL', 'ABORT'] AS state
CALL (state) {
  MATCH (r:HwRun)
  USING INDEX SEEK r:HwRun(state, last_seen)
  WHERE r.state = state AND r.last_seen IS NOT NULL AND r.tenant = $given.tenant
  RETURN r ORDER BY r.state DESC, r.last_seen DESC LIMIT $given.most
}
MATCH (r)-[:PRODUCED]->(d:HwDataset) WHERE id(d) IN $given.nodes
RETURN DISTINCT id(d) AS node, r {.run_id, .key, state: coalesce(r.inferred_state, r.state),
  ended_at: [t IN [coalesce(r.ended_at, r.inferred_ended_at)] | t.epochMillis * 1000 + t.microsecond % 1000][0],
  last_seen: r.last_seen.epochMillis * 1000 + r.last_seen.microsecond % 1000} AS run

// written: The latest runs by which jobs and streaming queries wrote datasets; times in microseconds
UNWIND $given.nodes AS node
MATCH (d:HwDataset) WHERE id(d) = node
CALL (d) {
  MATCH (d)<-[w:WRITES]-(q:HwQuery)
  WITH q ORDER BY w.last_seen DESC, q.key LIMIT $given.writers
  CALL (q) {
    MATCH (r:HwRun)
    USING INDEX SEEK r:HwRun(_query, last_seen)
    WHERE r._query = q.key AND r.last_seen IS NOT NULL
    RETURN r ORDER BY r._query DESC, r.last_seen DESC LIMIT 1
  }
  RETURN r
 UNION
  MATCH (d)<-[w:WRITES]-(j:HwJob)
  WITH d, j, w ORDER BY w.last_seen IS NULL, w.last_seen DESC, j.key LIMIT $given.writers
  WITH d, j, COLLECT {
    UNWIND $given.states AS state
    MATCH (r:HwRun)
    USING INDEX SEEK r:HwRun(state, last_seen)
    WHERE r.state = state AND r.last_seen = w.last_seen AND EXISTS { (r)-[:OF]->(j) } AND EXISTS { (r)-[:PRODUCED]->(d) }
    RETURN r ORDER BY r.key DESC LIMIT 1
  } AS timed
  CALL (d, j, timed) {
    UNWIND timed AS r
    RETURN r
   UNION
    WITH d, j, timed WHERE size(timed) = 0 AND COUNT { (j)<-[:OF]-(:HwRun) } <= $given.few
    MATCH (j)<-[:OF]-(r:HwRun)-[:PRODUCED]->(d)
    RETURN r ORDER BY r.last_seen DESC, r.key DESC LIMIT 1
  }
  RETURN r
}
RETURN node, r {.run_id, .key, state: coalesce(r.inferred_state, r.state),
  ended_at: [t IN [coalesce(r.ended_at, r.inferred_ended_at)] | t.epochMillis * 1000 + t.microsecond % 1000][0],
  last_seen: r.last_seen.epochMillis * 1000 + r.last_seen.microsecond % 1000} AS run
