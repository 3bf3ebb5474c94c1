// Plans that a run used
MATCH (r:Run {key: $run})-[u:USED]->(p:Plan)
RETURN p.key AS plan, p.digest AS digest, false AS declared, p.complete AS complete, r.first_seen AS since,
  u.last_seen AS active
ORDER BY p.key
