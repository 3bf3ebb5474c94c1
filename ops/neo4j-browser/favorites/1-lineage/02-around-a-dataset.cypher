// Around a dataset: two hops each way
WITH 'flights.enriched' AS wanted
MATCH (dataset:Dataset) WHERE wanted IN [dataset.name, dataset.title]
MATCH flow = (:Dataset)-[:FEEDS*0..2]->(dataset)-[:FEEDS*0..2]->(:Dataset)
RETURN flow
LIMIT 500
