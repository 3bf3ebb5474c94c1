// When plans of a job were used, in order: the latest application run is found without looking at all of its runs
CREATE INDEX headwater_used_by_job IF NOT EXISTS
FOR ()-[u:USED]-() ON (u._job, u.first_seen)
