// Code versions of a job's runs
MATCH (:HwJob {key: $given.job})<-[:OF]-(r:HwRun)
WHERE r.code_version IS NOT NULL
RETURN r.code_version AS code_version, max(coalesce(r.last_seen, r.started_at)) AS at
ORDER BY at DESC LIMIT $given.limit
