// When a code version of a job ran, and its latest run
MATCH (:HwJob {key: $given.job})<-[:OF]-(r:HwRun)
WHERE r.code_version = $given.code_version
WITH r ORDER BY coalesce(r.last_seen, r.started_at) DESC, r.key DESC
WITH collect(r)[0] AS r, count(*) AS runs
WHERE r IS NOT NULL
RETURN r.key AS run, coalesce(r.last_seen, r.ended_at, r.started_at) AS at, runs
