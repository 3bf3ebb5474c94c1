// Runs that read or wrote versions
UNWIND $given.versions AS version
MATCH (:Version {key: version})<-[:READ|WROTE]-(x:Run)
WITH DISTINCT x LIMIT $given.limit
RETURN 0 AS n, 'Run' AS label, x {.*} AS properties,
  head([(x)-[:OF]->(j:Job) | j {.key, .namespace, .name, .processing_type}]) AS job,
  [(x)-[u:CONSUMED|PRODUCED]->(d:Dataset) | [type(u), d.key, u {.*}]] AS uses
