// State of every run
MATCH (run:HwRun)
RETURN run.name AS run, coalesce(run.state, 'UNKNOWN') AS state
