// A dataset, and how much hangs on it by any of its names
MATCH (d:Dataset)
USING INDEX SEEK d:Dataset(key)
WHERE d.key = $given.key AND d.tenant = $given.tenant
RETURN properties(d) AS properties,
  COUNT { MATCH (n:Dataset)-[:HAS_COLUMN]->(c:Column) USING INDEX SEEK n:Dataset(key) WHERE n.key IN $given.keys RETURN DISTINCT c.name } AS columns_total,
  COUNT { MATCH (n:Dataset)<-[:WRITES]-(j:Job) USING INDEX SEEK n:Dataset(key) WHERE n.key IN $given.keys RETURN DISTINCT j } AS producers_total,
  COUNT { MATCH (n:Dataset)<-[:READS]-(j:Job) USING INDEX SEEK n:Dataset(key) WHERE n.key IN $given.keys RETURN DISTINCT j } AS consumers_total,
  COUNT { MATCH (n:Dataset)<-[:OF]-(v:Version) USING INDEX SEEK n:Dataset(key) WHERE n.key IN $given.keys RETURN v } AS versions_total,
  COLLECT { MATCH (d)-[:RENAMED_TO]->(next:Dataset)
    RETURN next {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} ORDER BY next.key LIMIT 100 } AS renamed_to
