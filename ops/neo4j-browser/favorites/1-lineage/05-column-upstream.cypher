// Where a column's value comes from, step by step
WITH 'daily_report' AS wanted, 'mean_delay' AS column
MATCH (dataset:Dataset)-[:HAS_COLUMN]->(made:Column {name: column}) WHERE wanted IN [dataset.name, dataset.title]
MATCH trace = (:Column|Dataset)-[:DERIVES*1..8]->(made)
WHERE all(step IN relationships(trace) WHERE step.type = 'DIRECT')
UNWIND nodes(trace) AS node
OPTIONAL MATCH owner = (node)<-[:HAS_COLUMN]-(:Dataset)
RETURN trace, collect(DISTINCT owner) AS owners
LIMIT 300
