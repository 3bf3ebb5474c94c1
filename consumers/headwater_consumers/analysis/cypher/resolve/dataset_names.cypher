// Datasets by name or title
MATCH (n:Dataset) WHERE n.tenant = $tenant AND (n.name = $name OR n.title = $name)
RETURN id(n) AS id, properties(n) AS properties ORDER BY n.key
