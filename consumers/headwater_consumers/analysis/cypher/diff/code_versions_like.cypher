// Code versions of a job's runs that begin so
MATCH (:HwJob {key: $given.job})<-[:OF]-(r:HwRun)
WHERE r.code_version STARTS WITH $given.prefix
RETURN DISTINCT r.code_version AS code_version ORDER BY code_version LIMIT $given.limit
