// Runs that read or wrote versions
UNWIND $given.versions AS version
MATCH (:HwVersion {key: version})<-[:READ|WROTE]-(x:HwRun)
WITH DISTINCT x LIMIT $given.limit
RETURN 0 AS n, 'Run' AS label, x {.*} AS properties,
  head([(x)-[:OF]->(j:HwJob) | j {.key, .namespace, .name, .processing_type}]) AS job,
  [(x)-[u:CONSUMED|PRODUCED]->(d:HwDataset) | [type(u), d.key, u {.*}]] AS uses
