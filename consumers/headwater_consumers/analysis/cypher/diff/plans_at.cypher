// Plans of a job, when each was last active by a time, and since when the run that it was last active in was seen
MATCH (j:Job {key: $job})<-[:OF]-(p:Plan)
CALL (p) {
  MATCH (p)<-[u:USED]-(o)
  WHERE $as_of IS NULL OR u.first_seen <= $as_of
  WITH CASE WHEN u.last_seen > $as_of THEN $as_of ELSE u.last_seen END AS used,
    CASE WHEN o:Run THEN o.first_seen ELSE u.first_seen END AS since
  ORDER BY used DESC, since DESC LIMIT 1
  RETURN head(collect(used)) AS used, head(collect(since)) AS since
}
RETURN p.key AS plan, p.digest AS digest, $as_of IS NULL AND p.digest = j.declared_plan AS declared,
  p.complete AS complete, since,
  CASE
    WHEN $as_of IS NULL THEN p.last_seen
    WHEN used IS NOT NULL THEN used
    WHEN p.first_seen <= $as_of AND p.last_seen > $as_of THEN $as_of
    WHEN p.first_seen <= $as_of THEN p.last_seen
  END AS active
ORDER BY p.key
