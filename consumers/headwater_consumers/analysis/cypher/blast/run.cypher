// A run by its id, with what it read and wrote
MATCH (r:Run {key: $given.key})
RETURN 0 AS n, 'Run' AS label, r {.*} AS properties,
  head([(r)-[:OF]->(j:Job) | j {.key, .namespace, .name, .processing_type}]) AS job,
  [(r)-[u:CONSUMED|PRODUCED]->(d:Dataset) | [type(u), d.key, u {.*}]] AS uses,
  head([(r)-[:IN_QUERY]->(q:Query) | q.key]) AS query
