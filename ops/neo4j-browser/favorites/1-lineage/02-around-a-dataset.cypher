// Around a dataset: two hops each way
WITH 'flights.enriched' AS wanted
MATCH (dataset:HwDataset) WHERE wanted IN [dataset.name, dataset.title]
MATCH flow = (:HwDataset)-[:FEEDS*0..2]->(dataset)-[:FEEDS*0..2]->(:HwDataset)
RETURN flow
LIMIT 500
