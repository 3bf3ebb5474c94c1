// Datasets by key
MATCH (n:Dataset) WHERE n.key IN $keys AND n.tenant = $tenant
RETURN id(n) AS id, n {.key, .namespace, .name, .title, .type} AS properties ORDER BY n.key
