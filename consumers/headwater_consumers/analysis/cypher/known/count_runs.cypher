// How many runs are in each of some states, in a span of time
UNWIND $given.states AS state
MATCH (r:HwRun)
WHERE r.state = state AND coalesce(r.inferred_state, r.state) IN $given.shown AND r.last_seen IS NOT NULL AND r.tenant = $given.tenant
  AND ($given.since IS NULL OR r.last_seen >= $given.since) AND ($given.until IS NULL OR r.last_seen < $given.until)
  AND all(w IN $given.where WHERE r[w.name] = w.value OR (w.begins AND r[w.name] STARTS WITH w.value))
  AND ($given.period IS NULL OR r.nominal_start = $given.period OR (r.nominal_start < $given.period AND r.nominal_end > $given.period))
  AND ($given.statement IS NULL OR toLower(r.statement) CONTAINS toLower($given.statement))
  AND (NOT $given.rejected OR r.rows_rejected > 0)
RETURN count(r) AS total
