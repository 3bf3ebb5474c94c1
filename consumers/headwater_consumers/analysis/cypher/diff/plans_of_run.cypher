// Plans that a run used
MATCH (:Run {key: $run})-[u:USED]->(p:Plan)
RETURN p.key AS plan, p.digest AS digest, false AS declared, p.complete AS complete,
  p.first_seen AS first_seen, p.last_seen AS last_seen, u.last_seen AS active
ORDER BY p.key
