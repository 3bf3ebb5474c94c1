// A dataset, and how much hangs on it by any of its names
MATCH (d:HwDataset)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key = $given.key AND d.tenant = $given.tenant
RETURN properties(d) AS properties,
  COUNT { MATCH (n:HwDataset)-[:HAS_COLUMN]->(c:HwColumn) USING INDEX SEEK n:HwDataset(key) WHERE n.key IN $given.keys RETURN DISTINCT c.name } AS columns_total,
  COUNT { MATCH (n:HwDataset)<-[:WRITES]-(j:HwJob) USING INDEX SEEK n:HwDataset(key) WHERE n.key IN $given.keys RETURN DISTINCT j } AS producers_total,
  COUNT { MATCH (n:HwDataset)<-[:READS]-(j:HwJob) USING INDEX SEEK n:HwDataset(key) WHERE n.key IN $given.keys RETURN DISTINCT j } AS consumers_total,
  COUNT { MATCH (n:HwDataset)<-[:OF]-(v:HwVersion) USING INDEX SEEK n:HwDataset(key) WHERE n.key IN $given.keys RETURN v } AS versions_total,
  COLLECT { MATCH (d)-[:RENAMED_TO]->(next:HwDataset)
    RETURN next {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} ORDER BY next.key LIMIT 100 } AS renamed_to
