// The last good run of each job, and the first bad one after it
MATCH (run:HwRun)-[:OF]->(job:HwJob)
WHERE run.state IN ['COMPLETE', 'FAIL', 'ABORT']
WITH job, run ORDER BY run.ended_at
WITH job, collect(run) AS runs
WITH job, runs, last([run IN runs WHERE run.state = 'COMPLETE']) AS good
WITH job, good, head([run IN runs WHERE run.state <> 'COMPLETE' AND (good IS NULL OR run.ended_at > good.ended_at)]) AS bad
RETURN job.name AS job, good.ended_at AS last_good, good.code_version AS good_code, bad.ended_at AS first_bad,
       bad.code_version AS bad_code, bad.error_message AS error
ORDER BY first_bad IS NULL, job
