// Plans that runs of one code version of a job used, when last, and since when that run was seen
MATCH (:Job {key: $job})<-[:OF]-(r:Run)-[u:USED]->(p:Plan)
WHERE r.code_version = $code_version
WITH p, u, r ORDER BY u.last_seen DESC, r.first_seen DESC
WITH p, head(collect(u.last_seen)) AS active, head(collect(r.first_seen)) AS since
RETURN p.key AS plan, p.digest AS digest, false AS declared, p.complete AS complete, since, active
ORDER BY p.key
