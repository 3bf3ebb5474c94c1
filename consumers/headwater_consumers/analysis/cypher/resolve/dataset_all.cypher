// All datasets, for the nearest names
MATCH (n:Dataset) WHERE n.tenant = $tenant
RETURN properties(n) AS properties
