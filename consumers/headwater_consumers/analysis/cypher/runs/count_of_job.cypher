// How many runs a job has
MATCH (:HwJob {key: $given.of})<-[:OF]-(r:HwRun)
WHERE ($given.states IS NULL OR coalesce(r.inferred_state, r.state) IN $given.states)
  AND all(w IN $given.where WHERE r[w.name] = w.value OR (w.begins AND r[w.name] STARTS WITH w.value))
  AND ($given.period IS NULL OR r.nominal_start = $given.period OR (r.nominal_start < $given.period AND r.nominal_end > $given.period))
  AND ($given.statement IS NULL OR toLower(r.statement) CONTAINS toLower($given.statement))
  AND (NOT $given.rejected OR r.rows_rejected > 0)
WITH coalesce(r.started_at, r.first_seen, r.last_seen, $given.epoch) AS began
WHERE ($given.since IS NULL OR began >= $given.since) AND ($given.until IS NULL OR began < $given.until)
RETURN count(*) AS total
