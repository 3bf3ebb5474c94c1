// Runs that failed or were ended, with the error
// No rows is good news.
MATCH (run:HwRun)
WHERE run.state IN ['FAIL', 'ABORT'] OR run.inferred_state IS NOT NULL
RETURN run.job_name AS job, coalesce(run.inferred_state, run.state) AS state,
       coalesce(run.ended_at, run.inferred_ended_at) AS at, run.inferred_because AS inferred_because, run.error_type AS error_type,
       run.error_message AS error, run.code_version AS code, run.run_id AS run
ORDER BY at DESC
LIMIT 300
