// Two plans of a job side by side: columns that only one of them makes so
WITH 'flights.routes' AS wanted
MATCH (plan:HwPlan)-[:OF]->(job:HwJob {name: wanted})
WITH job, plan ORDER BY plan.last_seen DESC LIMIT 2
WITH job, collect(plan) AS plans
UNWIND plans AS plan
MATCH (origin)-[step:DERIVES]->(made:HwColumn)<-[:HAS_COLUMN]-(target:HwDataset)
WHERE step.plan = plan.key
OPTIONAL MATCH (source:HwDataset)-[:HAS_COLUMN]->(origin)
WITH target.title AS dataset, made.name AS column, coalesce(source.title + ' ', '') + origin.name AS comes_from,
     step.kind AS how, collect(DISTINCT CASE WHEN plan = plans[0] THEN 'now' ELSE 'before' END) AS in_plan
WHERE size(in_plan) = 1
RETURN dataset, column, comes_from, how, in_plan[0] AS only
ORDER BY dataset, column, only DESC, comes_from
LIMIT 300
