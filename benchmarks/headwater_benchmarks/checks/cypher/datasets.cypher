// Every dataset of the estate
MATCH (d:HwDataset)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key > ''
RETURN d.namespace AS namespace, d.name AS name, d.columns AS columns ORDER BY d.key
