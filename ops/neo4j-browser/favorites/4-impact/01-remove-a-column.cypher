// Impact: which columns change if this one is removed, and whose they are
WITH 'flights.departed' AS wanted, 'value.dep_delay' AS column
MATCH (dataset:HwDataset)-[:HAS_COLUMN]->(origin:HwColumn {name: column}) WHERE wanted IN [dataset.name, dataset.title]
MATCH trace = (origin)-[:DERIVES*1..8]->(hit:HwColumn)
MATCH (hit)<-[:HAS_COLUMN {current: true}]-(target:HwDataset)
WITH target, hit, collect(trace) AS traces
WITH target, hit, any(one IN traces WHERE all(hop IN relationships(one) WHERE hop.type = 'DIRECT')) AS direct,
     [one IN traces | last(relationships(one)).job] AS jobs
MATCH (job:HwJob) WHERE job.key IN jobs
WITH target, hit, direct, collect(DISTINCT job.name) AS by, head(collect(job.owners)) AS job_owners
RETURN CASE WHEN direct THEN 'DIRECT' ELSE 'INDIRECT' END AS influence, target.title AS dataset, hit.name AS column,
       by, coalesce(target.owners, job_owners, ['nobody']) AS owners
ORDER BY influence, dataset, column
LIMIT 300
