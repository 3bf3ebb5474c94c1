// Runs without an end, though last seen a day ago
// No rows is good news.
MATCH (run:HwRun)
WHERE run.open = true AND run.last_seen < datetime() - duration('P1D')
  AND NOT EXISTS { (run)<-[:CHILD_OF]-(child:HwRun) WHERE child.last_seen >= datetime() - duration('P1D') }
RETURN run.job_name AS job, run.state AS state, run.started_at AS started, run.last_seen AS last_seen, run.run_id AS run
ORDER BY last_seen
LIMIT 300
