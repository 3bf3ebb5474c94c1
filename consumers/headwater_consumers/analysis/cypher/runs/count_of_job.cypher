// How many runs a job has
MATCH (:Job {key: $of})<-[:OF]-(r:Run)
WHERE $states IS NULL OR r.state IN $states
WITH coalesce(r.started_at, r.first_seen, r.last_seen, $epoch) AS began
WHERE ($since IS NULL OR began >= $since) AND ($until IS NULL OR began < $until)
RETURN count(*) AS total
