// Plans whose column lineage is incomplete, and why
// No rows is good news.
MATCH (plan:HwPlan)-[:OF]->(job:HwJob)
WHERE NOT plan.complete
RETURN job.name AS job, plan.incomplete_reason AS reason, plan.edges AS edges, plan.first_seen AS first, plan.last_seen AS last
ORDER BY last DESC
LIMIT 300
