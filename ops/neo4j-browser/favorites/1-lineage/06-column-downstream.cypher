// What is made of a column, with job and expression
WITH 'flights.departed' AS wanted, 'value.dep_delay' AS column
MATCH (dataset:HwDataset)-[:HAS_COLUMN]->(origin:HwColumn {name: column}) WHERE wanted IN [dataset.name, dataset.title]
MATCH trace = (origin)-[:DERIVES*1..8]->(made:HwColumn)
MATCH (made)<-[:HAS_COLUMN]-(target:HwDataset)
WITH target, made, trace, last(relationships(trace)) AS step
ORDER BY length(trace)
WITH target, made, collect(trace)[0] AS shortest, collect(step)[0] AS step,
     any(one IN collect(trace) WHERE all(hop IN relationships(one) WHERE hop.type = 'DIRECT')) AS direct
MATCH (job:HwJob {key: step.job})
RETURN target.title AS dataset, made.name AS column, CASE WHEN direct THEN 'DIRECT' ELSE 'INDIRECT' END AS influence,
       length(shortest) AS hops, job.name AS job, step.kind AS how, step.expression AS expression
ORDER BY hops, dataset, column
LIMIT 300
