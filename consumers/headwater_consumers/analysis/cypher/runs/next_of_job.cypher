// The first run of a job after another, by state
MATCH (:Job {key: $of})<-[:OF]-(r:Run)
WHERE r.state IN $states
WITH r, coalesce(r.started_at, r.first_seen, r.last_seen, $epoch) AS began
WHERE $began IS NULL OR began > $began OR (began = $began AND r.key > $key)
WITH r, began ORDER BY began, r.key LIMIT 1
RETURN r {.key, .run_id, .name, .job_namespace, .job_name, .processing_type, .state, .ended_at, .code_version, .config_version, .plan_digest, .error_type, .error_message, .query_id, .first_batch, .last_batch, began: coalesce(r.started_at, r.first_seen, r.last_seen)} AS run
