// Plans that runs of one code version of a job used
MATCH (:Job {key: $job})<-[:OF]-(r:Run)-[u:USED]->(p:Plan)
WHERE r.code_version = $code_version
WITH p, max(u.last_seen) AS active
RETURN p.key AS plan, p.digest AS digest, false AS declared, p.complete AS complete,
  p.first_seen AS first_seen, p.last_seen AS last_seen, active
ORDER BY p.key
