// The latest runs of a job, in a span of time
MATCH (r:Run)-[:OF]->(j:Job) WHERE id(j) = $id
WITH r, coalesce(r.started_at, r.first_seen) AS began
WHERE ($begin IS NULL OR coalesce(r.ended_at, began) >= $begin) AND ($end IS NULL OR began < $end)
RETURN r {.key, .run_id, .state, .processing_type, .started_at, .ended_at, .code_version, .error_message} AS run
ORDER BY began IS NULL, began DESC, r.key LIMIT $limit
