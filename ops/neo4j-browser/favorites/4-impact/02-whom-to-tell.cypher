// Impact: whom to tell before a dataset changes
WITH 'flights.departed' AS wanted
MATCH (dataset:HwDataset) WHERE wanted IN [dataset.name, dataset.title]
MATCH (dataset)-[:FEEDS*0..8]->(hit:HwDataset)
WITH DISTINCT hit
MATCH (hit)<-[:READS]-(job:HwJob)
UNWIND coalesce(job.owners, ['nobody is named']) AS owner
RETURN owner, collect(DISTINCT job.name) AS jobs, collect(DISTINCT hit.title) AS through
ORDER BY size(jobs) DESC, owner
