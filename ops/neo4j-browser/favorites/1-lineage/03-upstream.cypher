// Upstream: everything a dataset comes from
WITH 'daily_report' AS wanted
MATCH (dataset:Dataset) WHERE wanted IN [dataset.name, dataset.title]
MATCH flow = (:Dataset)-[:FEEDS*1..8]->(dataset)
RETURN flow
LIMIT 500
