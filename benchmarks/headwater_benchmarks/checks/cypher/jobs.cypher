// Every job of the estate, with a dataset that it reads
MATCH (j:HwJob)
USING INDEX SEEK j:HwJob(key)
WHERE j.key > ''
CALL (j) { MATCH (j)-[:READS]->(d:HwDataset) RETURN d ORDER BY d.key LIMIT 1 }
RETURN j.namespace AS namespace, j.name AS name, d.namespace AS input_namespace, d.name AS input_name ORDER BY j.key
