// Upstream: everything a dataset comes from
WITH 'daily_report' AS wanted
MATCH (dataset:HwDataset) WHERE wanted IN [dataset.name, dataset.title]
MATCH flow = (:HwDataset)-[:FEEDS*1..8]->(dataset)
RETURN flow
LIMIT 500
