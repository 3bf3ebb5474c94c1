// What the latest run of a job read and wrote
WITH 'flights.daily_report' AS wanted
MATCH (run:HwRun)-[:OF]->(job:HwJob {name: wanted})
WITH run, job ORDER BY coalesce(run.started_at, run.first_seen) DESC LIMIT 1
MATCH use = (job)<-[:OF]-(run)-[:CONSUMED|PRODUCED|READ|WROTE]->(:HwDataset|HwVersion)
RETURN use
