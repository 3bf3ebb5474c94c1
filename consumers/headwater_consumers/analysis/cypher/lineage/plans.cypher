// All plans of the jobs of these plans, and when each was last active by a time
UNWIND $plans AS key
MATCH (:Plan {key: key})-[:OF]->(j:Job)
WITH DISTINCT j
MATCH (p:Plan)-[:OF]->(j)
CALL (p) {
  MATCH (p)<-[u:USED]-() WHERE u.first_seen <= $as_of
  RETURN max(CASE WHEN u.last_seen > $as_of THEN $as_of ELSE u.last_seen END) AS used
}
RETURN j.key AS job, p.key AS plan, p.digest = j.declared_plan AS declared, p.first_seen AS first_seen,
  p.last_seen AS last_seen,
  CASE
    WHEN $as_of IS NULL THEN p.last_seen
    WHEN used IS NOT NULL THEN used
    WHEN p.first_seen <= $as_of AND p.last_seen > $as_of THEN $as_of
    WHEN p.first_seen <= $as_of THEN p.last_seen
  END AS active, p.complete AS complete, p.incomplete_reason AS incomplete_reason
