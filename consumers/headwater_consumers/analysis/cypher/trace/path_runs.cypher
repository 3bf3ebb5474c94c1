// Runs that read or wrote files or partitions, by marks
CALL db.index.fulltext.queryRelationships('headwater_position_paths', $given.marks) YIELD relationship AS r
WITH r, startNode(r) AS x, endNode(r) AS d
WHERE d.tenant = $given.tenant AND type(r) = $given.type AND x:HwRun
WITH DISTINCT x LIMIT $given.limit
RETURN 0 AS n, 'Run' AS label, x {.*} AS properties,
  head([(x)-[:OF]->(j:HwJob) | j {.key, .namespace, .name, .processing_type}]) AS job,
  [(x)-[u:CONSUMED|PRODUCED]->(d:HwDataset) | [type(u), d.key, u {.*}]] AS uses
