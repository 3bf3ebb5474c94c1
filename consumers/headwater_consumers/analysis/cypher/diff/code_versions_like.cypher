// Code versions of a job's runs that begin so
MATCH (:Job {key: $given.job})<-[:OF]-(r:Run)
WHERE r.code_version STARTS WITH $given.prefix
RETURN DISTINCT r.code_version AS code_version ORDER BY code_version LIMIT $given.limit
