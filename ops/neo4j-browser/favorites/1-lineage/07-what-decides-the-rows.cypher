// What decides a dataset's rows: filters, joins, groups, sorts
WITH 'daily_report' AS wanted
MATCH (dataset:Dataset) WHERE wanted IN [dataset.name, dataset.title]
MATCH (origin:Column|Dataset)-[step:INFLUENCES]->(dataset)
OPTIONAL MATCH (source:Dataset)-[:HAS_COLUMN]->(origin)
RETURN step.kind AS how, coalesce(source.title, origin.title) AS dataset,
       CASE WHEN origin:Column THEN origin.name ELSE 'all of it' END AS column, step.expression AS expression
ORDER BY how, dataset, column
LIMIT 300
