// Flows that are new since a time, and those not seen any more since
WITH datetime('2013-01-01T00:00:00Z') AS since
MATCH (source:HwDataset)-[flow:FEEDS]->(target:HwDataset)
WHERE flow.observed AND (flow.first_seen >= since OR flow.last_seen < since)
RETURN CASE WHEN flow.first_seen >= since THEN 'new' ELSE 'not seen since' END AS what,
       source.title AS source, target.title AS target, flow.job_name AS job, flow.first_seen AS first, flow.last_seen AS last
ORDER BY what, first DESC
LIMIT 300
