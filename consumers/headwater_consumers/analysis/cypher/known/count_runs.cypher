// How many runs are in each of some states, in a span of time
UNWIND $given.states AS state
MATCH (r:Run)
WHERE r.state = state AND coalesce(r.inferred_state, r.state) IN $given.shown AND r.last_seen IS NOT NULL AND r.tenant = $given.tenant
  AND ($given.since IS NULL OR r.last_seen >= $given.since) AND ($given.until IS NULL OR r.last_seen < $given.until)
RETURN count(r) AS total
