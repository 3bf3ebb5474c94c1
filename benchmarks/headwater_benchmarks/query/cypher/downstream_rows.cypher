// Everything downstream of a dataset, as rows
MATCH (start:HwDataset {key: $key})-[:FEEDS*1..]->(d)
WITH DISTINCT start, d
WHERE d <> start
RETURN d.key AS key, d.namespace AS namespace, d.name AS name
