// The latest runs of a job, in a span of time
MATCH (r:HwRun)-[:OF]->(j:HwJob) WHERE id(j) = $given.id
WITH r, coalesce(r.started_at, r.first_seen) AS began
WHERE ($given.begin IS NULL OR coalesce(r.ended_at, r.inferred_ended_at, began) >= $given.begin) AND ($given.end IS NULL OR began < $given.end)
RETURN r {.key, .run_id, state: coalesce(r.inferred_state, r.state), .processing_type, .started_at, ended_at: coalesce(r.ended_at, r.inferred_ended_at), .inferred_because, .inferred_by, .code_version, .error_message} AS run
ORDER BY began IS NULL, began DESC, r.key LIMIT $given.limit
