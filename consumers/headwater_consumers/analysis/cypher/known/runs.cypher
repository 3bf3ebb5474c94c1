// Runs in each of some states, the one seen last first: by the index of state and time
UNWIND $given.states AS state
CALL (state) {
  MATCH (r:HwRun)
  WHERE r.state = state AND coalesce(r.inferred_state, r.state) IN $given.shown AND r.last_seen <= $given.at AND ($given.since IS NULL OR r.last_seen >= $given.since)
    AND ($given.until IS NULL OR r.last_seen < $given.until) AND r.tenant = $given.tenant
    AND ($given.key = '' OR r.last_seen < $given.at OR r.key < $given.key)
    AND all(w IN $given.where WHERE r[w.name] = w.value OR (w.begins AND r[w.name] STARTS WITH w.value))
    AND ($given.period IS NULL OR r.nominal_start = $given.period OR (r.nominal_start < $given.period AND r.nominal_end > $given.period))
    AND ($given.statement IS NULL OR toLower(r.statement) CONTAINS toLower($given.statement))
    AND (NOT $given.rejected OR r.rows_rejected > 0)
  RETURN r ORDER BY r.last_seen DESC, r.key DESC LIMIT $given.limit
}
RETURN r {.key, .run_id, .name, .job_namespace, .job_name, .processing_type, state: coalesce(r.inferred_state, r.state), ended_at: coalesce(r.ended_at, r.inferred_ended_at), .inferred_because, .inferred_by, .code_version, .config_version, .plan_digest, .error_type, .error_message, .query_id, .first_batch, .last_batch, .last_seen, began: coalesce(r.started_at, r.first_seen, r.last_seen)} AS run, r.state AS stored
ORDER BY r.state, r.last_seen DESC, r.key DESC
