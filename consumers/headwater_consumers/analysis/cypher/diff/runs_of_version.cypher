// Runs of one code version of a job, the latest ones
MATCH (:HwJob {key: $given.job})<-[:OF]-(r:HwRun)
WHERE r.code_version = $given.code_version
WITH r ORDER BY coalesce(r.last_seen, r.started_at) DESC, r.key DESC LIMIT $given.limit
RETURN collect(r.key) AS runs
