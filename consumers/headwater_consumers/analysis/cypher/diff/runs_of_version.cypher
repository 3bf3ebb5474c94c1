// Runs of one code version of a job, the latest ones
MATCH (:Job {key: $job})<-[:OF]-(r:Run)
WHERE r.code_version = $code_version
WITH r ORDER BY coalesce(r.last_seen, r.started_at) DESC, r.key DESC LIMIT $limit
RETURN collect(r.key) AS runs
