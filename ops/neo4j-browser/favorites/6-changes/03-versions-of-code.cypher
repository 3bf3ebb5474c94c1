// Which code versions a job ran with, and since when
MATCH (run:HwRun)-[:OF]->(job:HwJob)
WHERE run.code_version IS NOT NULL
RETURN job.name AS job, run.code_version AS code, count(run) AS runs, min(run.first_seen) AS first, max(run.last_seen) AS last
ORDER BY job, first DESC
LIMIT 300
