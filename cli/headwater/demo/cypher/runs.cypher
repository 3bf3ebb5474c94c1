// State of every run
MATCH (run:Run)
RETURN run.name AS run, coalesce(run.state, 'UNKNOWN') AS state
