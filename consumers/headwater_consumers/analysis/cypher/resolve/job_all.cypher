// All jobs, for the nearest names
MATCH (n:Job) WHERE n.tenant = $tenant
RETURN properties(n) AS properties
