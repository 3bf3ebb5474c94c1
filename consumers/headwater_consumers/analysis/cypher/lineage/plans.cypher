// All plans of the jobs of these plans, and when each was last active by a time; times in microseconds
CALL () {
  UNWIND $given.plans AS key
  MATCH (:HwPlan {key: key})-[:OF]->(j:HwJob)
  RETURN j
 UNION
  UNWIND $given.jobs AS key
  MATCH (j:HwJob {key: key})
  RETURN j
}
MATCH (p:HwPlan)-[:OF]->(j)
CALL (p) {
  WITH p WHERE $given.as_of IS NOT NULL
  MATCH (p)<-[u:USED]-() WHERE u.first_seen <= $given.as_of
  RETURN max(CASE WHEN u.last_seen > $given.as_of THEN $given.as_of ELSE u.last_seen END) AS used
}
CALL (p) {
  UNWIND p._outputs AS output
  MATCH (d:HwDataset {key: output}) WHERE d.emptied_at IS NOT NULL AND ($given.as_of IS NULL OR d.emptied_at <= $given.as_of)
  RETURN collect([output, d.emptied_at.epochMillis * 1000 + d.emptied_at.microsecond % 1000]) AS emptied
}
WITH j, p, emptied,
  CASE
    WHEN $given.as_of IS NULL THEN p.last_seen
    WHEN used IS NOT NULL THEN used
    WHEN p.first_seen <= $given.as_of AND p.last_seen > $given.as_of THEN $given.as_of
    WHEN p.first_seen <= $given.as_of THEN p.last_seen
  END AS active
RETURN collect([p.key, j.key, p.digest, coalesce(p.digest = j.declared_plan, false)
    OR EXISTS { MATCH (j)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current AND x.plan = p.digest },
  p.first_seen.epochMillis * 1000 + p.first_seen.microsecond % 1000,
  p.last_seen.epochMillis * 1000 + p.last_seen.microsecond % 1000,
  active.epochMillis * 1000 + active.microsecond % 1000,
  CASE WHEN p.complete = false THEN coalesce(p.incomplete_reason, 'no reason given') END,
  p.edges IS NOT NULL, coalesce(p._outputs, []), emptied]) AS plans
