// Impact, drawn: jobs and datasets behind a dataset
WITH 'flights.departed' AS wanted
MATCH (dataset:Dataset) WHERE wanted IN [dataset.name, dataset.title]
MATCH (dataset)-[:FEEDS*0..8]->(hit:Dataset)
WITH DISTINCT hit
MATCH use = (hit)<-[:READS]-(:Job)-[:WRITES]->(:Dataset)
RETURN use
LIMIT 500
