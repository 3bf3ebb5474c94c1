// Downstream: everything that comes of a dataset
WITH 'flights.departed' AS wanted
MATCH (dataset:HwDataset) WHERE wanted IN [dataset.name, dataset.title]
MATCH flow = (dataset)-[:FEEDS*1..8]->(:HwDataset)
RETURN flow
LIMIT 500
