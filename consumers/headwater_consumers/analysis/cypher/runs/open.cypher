// Runs without an end, the longest unseen first; an application is seen with what it started
MATCH (r:HwRun)
USING INDEX r:HwRun(open, last_seen)
WHERE r.open = true AND r.last_seen < $given.before AND r.tenant = $given.tenant
  AND ($given.of IS NULL OR EXISTS { (r)-[:OF]->(:HwJob {key: $given.of}) })
CALL (r) {
  OPTIONAL MATCH (r)<-[:CHILD_OF]-(c:HwRun)
  RETURN max(c.last_seen) AS below
}
WITH r, CASE WHEN below > r.last_seen THEN below ELSE r.last_seen END AS seen
WHERE seen < $given.before AND ($given.seen IS NULL OR seen > $given.seen OR (seen = $given.seen AND r.key > $given.key))
WITH r, seen ORDER BY seen, r.key LIMIT $given.limit
RETURN seen, [i IN range(0, size(coalesce(r.facet_names, [])) - 1) WHERE r.facet_names[i] = 'headwater_heartbeat' | r.facets[i]] AS heartbeat, r {.key, .run_id, .name, .job_namespace, .job_name, .processing_type, state: coalesce(r.inferred_state, r.state), ended_at: coalesce(r.ended_at, r.inferred_ended_at), .inferred_because, .inferred_by, .code_version, .config_version, .plan_digest, .error_type, .error_message, .query_id, .first_batch, .last_batch, began: coalesce(r.started_at, r.first_seen, r.last_seen)} AS run
ORDER BY seen, run.key
