// among: Ids of the runs among some that belong to a campaign
MATCH (r:HwRun)
USING INDEX SEEK r:HwRun(key)
WHERE r.key IN $given.runs AND r._campaign = $given.campaign
RETURN collect(r.run_id) AS run_ids

// count: Number of campaigns
MATCH (r:HwRun)
USING INDEX SEEK r:HwRun(_campaign)
WHERE r._campaign > '' AND r.tenant = $given.tenant
RETURN count(DISTINCT r._campaign) AS total

// jobs: Jobs of a campaign with their numbers of runs, each with its latest run, the one with the latest of all first
MATCH (r:HwRun)
USING INDEX SEEK r:HwRun(_campaign)
WHERE r._campaign = $given.campaign
WITH r, coalesce(r.started_at, r.first_seen, r.last_seen, $given.epoch) AS began, coalesce(r.inferred_state, r.state, '') AS state
ORDER BY began DESC, r.key
WITH r.job_namespace AS namespace, r.job_name AS name, count(*) AS runs, head(collect(r)) AS r, max(began) AS began,
  sum(CASE WHEN state IN $given.ended THEN 0 ELSE 1 END) AS unfinished,
  sum(CASE WHEN state IN $given.failed THEN 1 ELSE 0 END) AS failed
ORDER BY began DESC, namespace, name LIMIT $given.limit
RETURN r {.key, .run_id, .name, .job_namespace, .job_name, .processing_type, state: coalesce(r.inferred_state, r.state), ended_at: coalesce(r.ended_at, r.inferred_ended_at), .inferred_because, .inferred_by, .code_version, .config_version, .plan_digest, .error_type, .error_message, .query_id, .first_batch, .last_batch, began: coalesce(r.started_at, r.first_seen, r.last_seen)} AS run,
  runs, unfinished, failed
ORDER BY began DESC, namespace, name

// list: Campaigns, the one with the latest run first
MATCH (r:HwRun)
USING INDEX SEEK r:HwRun(_campaign)
WHERE r._campaign > '' AND r.tenant = $given.tenant
WITH r, coalesce(r.started_at, r.first_seen, r.last_seen, $given.epoch) AS began, coalesce(r.inferred_state, r.state, '') AS state
WITH r._campaign AS key, min(r.campaign) AS campaign, count(*) AS runs, min(began) AS began, max(began) AS latest,
  sum(CASE WHEN state IN $given.ended THEN 0 ELSE 1 END) AS unfinished,
  sum(CASE WHEN state IN $given.failed THEN 1 ELSE 0 END) AS failed
WHERE $given.began IS NULL OR latest < $given.began OR (latest = $given.began AND key > $given.key)
RETURN key, campaign, runs, unfinished, failed, began, latest ORDER BY latest DESC, key LIMIT $given.limit

// resolved: Incidents that were resolved since a time, the latest first
MATCH (n:HwIncident)
USING INDEX SEEK n:HwIncident(state)
WHERE n.state = $given.state AND n.tenant = $given.tenant AND n.resolved_at >= $given.since
RETURN n {.*} AS properties ORDER BY n.resolved_at DESC, n.key LIMIT $given.limit

// runs: Runs of a campaign, the latest first, with their inputs and outputs
MATCH (r:HwRun)
USING INDEX SEEK r:HwRun(_campaign)
WHERE r._campaign = $given.campaign
WITH r ORDER BY coalesce(r.started_at, r.first_seen, r.last_seen) DESC, r.key LIMIT $given.limit
RETURN 0 AS n, 'Run' AS label, r {.*} AS properties,
  head([(r)-[:OF]->(j:HwJob) | j {.key, .namespace, .name, .processing_type}]) AS job,
  [(r)-[u:CONSUMED|PRODUCED]->(d:HwDataset) | [type(u), d.key, u {.*}]] AS uses

// states: Numbers of a campaign's runs by state, with the first start and the last end of each
MATCH (r:HwRun)
USING INDEX SEEK r:HwRun(_campaign)
WHERE r._campaign = $given.campaign
RETURN coalesce(r.inferred_state, r.state) AS state, count(*) AS runs, min(coalesce(r.started_at, r.first_seen, r.last_seen)) AS began,
  max(coalesce(r.ended_at, r.inferred_ended_at)) AS ended
ORDER BY state
