// Jobs by key
MATCH (n:Job) WHERE n.key IN $keys AND n.tenant = $tenant
RETURN id(n) AS id, n {.key, .namespace, .name, .processing_type} AS properties ORDER BY n.key
