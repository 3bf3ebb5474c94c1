// Every dataset of the estate
MATCH (d:Dataset)
USING INDEX SEEK d:Dataset(key)
WHERE d.key > ''
RETURN d.namespace AS namespace, d.name AS name, d.columns AS columns ORDER BY d.key
