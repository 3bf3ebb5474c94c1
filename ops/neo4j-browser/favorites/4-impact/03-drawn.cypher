// Impact, drawn: jobs and datasets behind a dataset
WITH 'flights.departed' AS wanted
MATCH (dataset:HwDataset) WHERE wanted IN [dataset.name, dataset.title]
MATCH (dataset)-[:FEEDS*0..8]->(hit:HwDataset)
WITH DISTINCT hit
MATCH use = (hit)<-[:READS]-(:HwJob)-[:WRITES]->(:HwDataset)
RETURN use
LIMIT 500
