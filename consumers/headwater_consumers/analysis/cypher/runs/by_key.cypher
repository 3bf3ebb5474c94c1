// Runs by key
MATCH (r:Run) WHERE r.key IN $keys AND r.tenant = $tenant
RETURN r {.key, .run_id, .name, .job_namespace, .job_name, .processing_type, .state, .ended_at, .code_version, .config_version, .plan_digest, .error_type, .error_message, .query_id, .first_batch, .last_batch, began: coalesce(r.started_at, r.first_seen, r.last_seen)} AS run
