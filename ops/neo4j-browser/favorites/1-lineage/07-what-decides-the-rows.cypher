// What decides a dataset's rows: filters, joins, groups, sorts
WITH 'daily_report' AS wanted
MATCH (dataset:HwDataset) WHERE wanted IN [dataset.name, dataset.title]
MATCH (origin:HwColumn|HwDataset)-[step:INFLUENCES]->(dataset)
OPTIONAL MATCH (source:HwDataset)-[:HAS_COLUMN]->(origin)
RETURN step.kind AS how, coalesce(source.title, origin.title) AS dataset,
       CASE WHEN origin:HwColumn THEN origin.name ELSE 'all of it' END AS column, step.expression AS expression
ORDER BY how, dataset, column
LIMIT 300
