// Jobs by key
MATCH (n:HwJob) WHERE n.key IN $given.keys AND n.tenant = $given.tenant
RETURN id(n) AS id, n {.key, .namespace, .name, .processing_type} AS properties ORDER BY n.key
