// Runs that failed or were ended, with the error
// No rows is good news.
MATCH (run:Run)
WHERE run.state IN ['FAIL', 'ABORT']
RETURN run.job_name AS job, run.state AS state, run.ended_at AS at, run.error_type AS error_type,
       run.error_message AS error, run.code_version AS code, run.run_id AS run
ORDER BY at DESC
LIMIT 300
