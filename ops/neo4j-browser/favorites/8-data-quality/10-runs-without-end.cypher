// Runs without an end, though last heard of a day ago
// No rows is good news.
MATCH (run:Run)
WHERE NOT run.state IN ['COMPLETE', 'FAIL', 'ABORT'] AND run.last_seen < datetime() - duration('P1D')
RETURN run.job_name AS job, run.state AS state, run.started_at AS started, run.last_seen AS last_heard, run.run_id AS run
ORDER BY last_heard
LIMIT 300
