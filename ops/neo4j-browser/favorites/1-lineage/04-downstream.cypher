// Downstream: everything that comes of a dataset
WITH 'flights.departed' AS wanted
MATCH (dataset:Dataset) WHERE wanted IN [dataset.name, dataset.title]
MATCH flow = (dataset)-[:FEEDS*1..8]->(:Dataset)
RETURN flow
LIMIT 500
