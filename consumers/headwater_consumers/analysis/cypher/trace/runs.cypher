// Runs by key, with what they read and wrote
UNWIND $given.keys AS key
MATCH (r:HwRun {key: key})
RETURN 0 AS n, 'Run' AS label, r {.*} AS properties,
  head([(r)-[:OF]->(j:HwJob) | j {.key, .namespace, .name, .processing_type}]) AS job,
  [(r)-[u:CONSUMED|PRODUCED]->(d:HwDataset) | [type(u), d.key, u {.*}]] AS uses
