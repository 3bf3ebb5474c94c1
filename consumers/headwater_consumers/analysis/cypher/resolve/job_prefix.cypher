// Jobs whose keys begin so
MATCH (n:HwJob) WHERE n.key STARTS WITH $given.prefix AND n.tenant = $given.tenant
RETURN id(n) AS id, n {.key, .namespace, .name, .processing_type} AS properties ORDER BY n.key LIMIT $given.limit
