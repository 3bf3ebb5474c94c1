// A column by key, with its dataset
MATCH (n:Column {key: $key})<-[:HAS_COLUMN]-(d:Dataset) WHERE n.tenant = $tenant
RETURN id(n) AS id, properties(n) AS properties, properties(d) AS dataset
