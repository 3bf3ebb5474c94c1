// The first run of a job after another, by state
MATCH (:HwJob {key: $given.of})<-[:OF]-(r:HwRun)
WHERE coalesce(r.inferred_state, r.state) IN $given.states
WITH r, coalesce(r.started_at, r.first_seen, r.last_seen, $given.epoch) AS began
WHERE $given.began IS NULL OR began > $given.began OR (began = $given.began AND r.key > $given.key)
WITH r, began ORDER BY began, r.key LIMIT 1
RETURN r {.key, .run_id, .name, .job_namespace, .job_name, .processing_type, state: coalesce(r.inferred_state, r.state), ended_at: coalesce(r.ended_at, r.inferred_ended_at), .inferred_because, .inferred_by, .code_version, .config_version, .plan_digest, .error_type, .error_message, .query_id, .first_batch, .last_batch, began: coalesce(r.started_at, r.first_seen, r.last_seen)} AS run
