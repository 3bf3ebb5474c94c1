// Jobs by name
MATCH (n:Job) WHERE n.tenant = $tenant AND n.name = $name
RETURN id(n) AS id, properties(n) AS properties ORDER BY n.key
