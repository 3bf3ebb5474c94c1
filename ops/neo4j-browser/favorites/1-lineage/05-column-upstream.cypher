// Where a column's value comes from, step by step
WITH 'daily_report' AS wanted, 'mean_delay' AS column
MATCH (dataset:HwDataset)-[:HAS_COLUMN]->(made:HwColumn {name: column}) WHERE wanted IN [dataset.name, dataset.title]
MATCH trace = (:HwColumn|HwDataset)-[:DERIVES*1..8]->(made)
WHERE all(step IN relationships(trace) WHERE step.type = 'DIRECT')
UNWIND nodes(trace) AS node
OPTIONAL MATCH owner = (node)<-[:HAS_COLUMN]-(:HwDataset)
RETURN trace, collect(DISTINCT owner) AS owners
LIMIT 300
