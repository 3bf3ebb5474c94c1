// A dataset, and how much hangs on it by any of its names
MATCH (d:Dataset {key: $given.key}) WHERE d.tenant = $given.tenant
RETURN properties(d) AS properties,
  COUNT { MATCH (n:Dataset)-[:HAS_COLUMN]->(c:Column) WHERE n.key IN $given.keys RETURN DISTINCT c.name } AS columns_total,
  COUNT { MATCH (n:Dataset)<-[:WRITES]-(j:Job) WHERE n.key IN $given.keys RETURN DISTINCT j } AS producers_total,
  COUNT { MATCH (n:Dataset)<-[:READS]-(j:Job) WHERE n.key IN $given.keys RETURN DISTINCT j } AS consumers_total,
  COUNT { MATCH (n:Dataset)<-[:OF]-(v:Version) WHERE n.key IN $given.keys RETURN v } AS versions_total,
  COLLECT { MATCH (d)-[:RENAMED_TO]->(next:Dataset)
    RETURN next {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} ORDER BY next.key LIMIT 100 } AS renamed_to
