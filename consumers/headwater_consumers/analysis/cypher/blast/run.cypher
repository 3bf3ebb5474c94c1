// A run by its id, with what it read and wrote
MATCH (r:HwRun {key: $given.key})
RETURN 0 AS n, 'Run' AS label, r {.*} AS properties,
  head([(r)-[:OF]->(j:HwJob) | j {.key, .namespace, .name, .processing_type}]) AS job,
  [(r)-[u:CONSUMED|PRODUCED]->(d:HwDataset) | [type(u), d.key, u {.*}]] AS uses,
  head([(r)-[:IN_QUERY]->(q:HwQuery) | q.key]) AS query
