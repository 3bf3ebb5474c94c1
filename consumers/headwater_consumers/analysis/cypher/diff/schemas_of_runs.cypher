// Digests of the schemas that runs read and wrote datasets with, those of the latest runs last
MATCH (r:HwRun)-[u:CONSUMED|PRODUCED]->(d:HwDataset)
WHERE r.key IN $given.runs AND u.schema_digest IS NOT NULL
RETURN CASE type(u) WHEN 'CONSUMED' THEN 'READS' ELSE 'WRITES' END AS type, d.key AS dataset, u.schema_digest AS digest
ORDER BY coalesce(r.last_seen, r.started_at), r.key, coalesce(u.ordinal, 0) DESC
