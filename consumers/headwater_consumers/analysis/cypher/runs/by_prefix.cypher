// Runs whose ids begin so
UNWIND $given.prefixes AS prefix
MATCH (r:HwRun) WHERE r._id_start STARTS WITH prefix.start AND r.tenant = $given.tenant AND r.run_id STARTS WITH prefix.id
WITH DISTINCT r ORDER BY r.run_id LIMIT $given.limit
RETURN r {.key, .run_id, .name, .job_namespace, .job_name, .processing_type, state: coalesce(r.inferred_state, r.state), ended_at: coalesce(r.ended_at, r.inferred_ended_at), .inferred_because, .inferred_by, .code_version, .config_version, .plan_digest, .error_type, .error_message, .query_id, .first_batch, .last_batch, began: coalesce(r.started_at, r.first_seen, r.last_seen)} AS run
