// Jobs by key
MATCH (n:Job) WHERE n.key IN $keys AND n.tenant = $tenant
RETURN id(n) AS id, properties(n) AS properties ORDER BY n.key
