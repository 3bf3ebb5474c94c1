// All plans of the jobs of these plans, and when each was last active by a time; times in microseconds
UNWIND $plans AS key
MATCH (:Plan {key: key})-[:OF]->(j:Job)
WITH DISTINCT j
MATCH (p:Plan)-[:OF]->(j)
CALL (p) {
  WITH p WHERE $as_of IS NOT NULL
  MATCH (p)<-[u:USED]-() WHERE u.first_seen <= $as_of
  RETURN max(CASE WHEN u.last_seen > $as_of THEN $as_of ELSE u.last_seen END) AS used
}
WITH j, p,
  CASE
    WHEN $as_of IS NULL THEN p.last_seen
    WHEN used IS NOT NULL THEN used
    WHEN p.first_seen <= $as_of AND p.last_seen > $as_of THEN $as_of
    WHEN p.first_seen <= $as_of THEN p.last_seen
  END AS active
RETURN collect([p.key, j.key, coalesce(p.digest = j.declared_plan, false),
  p.first_seen.epochMillis * 1000 + p.first_seen.microsecond % 1000,
  p.last_seen.epochMillis * 1000 + p.last_seen.microsecond % 1000,
  active.epochMillis * 1000 + active.microsecond % 1000,
  CASE WHEN p.complete = false THEN coalesce(p.incomplete_reason, 'not said why') END]) AS plans
