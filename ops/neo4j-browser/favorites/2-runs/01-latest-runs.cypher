// The latest runs of a job
WITH 'flights.flights.departed' AS wanted
MATCH (run:HwRun)-[:OF]->(:HwJob {name: wanted})
WITH run ORDER BY coalesce(run.started_at, run.first_seen) DESC LIMIT 50
RETURN run.state AS state, run.started_at AS started, run.ended_at AS ended,
       duration.between(run.started_at, run.ended_at) AS took, run.code_version AS code, run.run_id AS run_id,
       run.error_message AS error
