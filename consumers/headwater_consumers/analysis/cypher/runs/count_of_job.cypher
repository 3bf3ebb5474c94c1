// How many runs a job has
MATCH (:Job {key: $given.of})<-[:OF]-(r:Run)
WHERE $given.states IS NULL OR coalesce(r.inferred_state, r.state) IN $given.states
WITH coalesce(r.started_at, r.first_seen, r.last_seen, $given.epoch) AS began
WHERE ($given.since IS NULL OR began >= $given.since) AND ($given.until IS NULL OR began < $given.until)
RETURN count(*) AS total
