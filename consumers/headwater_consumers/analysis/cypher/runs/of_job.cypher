// Runs of a job, the latest first
MATCH (:Job {key: $of})<-[:OF]-(r:Run)
WHERE $states IS NULL OR r.state IN $states
WITH r, coalesce(r.started_at, r.first_seen, r.last_seen, $epoch) AS began
WHERE ($since IS NULL OR began >= $since) AND ($until IS NULL OR began < $until)
  AND ($began IS NULL OR began < $began OR (began = $began AND r.key < $key))
WITH r, began ORDER BY began DESC, r.key DESC LIMIT $limit
RETURN r {.key, .run_id, .name, .job_namespace, .job_name, .processing_type, .state, .ended_at, .code_version, .config_version, .plan_digest, .error_type, .error_message, .query_id, .first_batch, .last_batch, began: coalesce(r.started_at, r.first_seen, r.last_seen)} AS run
