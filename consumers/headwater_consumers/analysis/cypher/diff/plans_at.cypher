// Plans of a job, and when each was last active by a time
MATCH (j:Job {key: $job})<-[:OF]-(p:Plan)
CALL (p) {
  MATCH (p)<-[u:USED]-() WHERE u.first_seen <= $as_of
  RETURN max(CASE WHEN u.last_seen > $as_of THEN $as_of ELSE u.last_seen END) AS used
}
RETURN p.key AS plan, p.digest AS digest, $as_of IS NULL AND p.digest = j.declared_plan AS declared,
  p.complete AS complete, p.first_seen AS first_seen, p.last_seen AS last_seen,
  CASE
    WHEN $as_of IS NULL THEN p.last_seen
    WHEN used IS NOT NULL THEN used
    WHEN p.first_seen <= $as_of AND p.last_seen > $as_of THEN $as_of
    WHEN p.first_seen <= $as_of THEN p.last_seen
  END AS active
ORDER BY p.key
