// Jobs for which one of some owners, or one of some tags, is declared
MATCH (x:HwDeclaration)
USING INDEX SEEK x:HwDeclaration(key)
WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'job'
MATCH (x)-[r:DECLARES]->(m)
WHERE any(owner IN x.owners WHERE owner IN $given.owners)
  OR any(n IN range(0, size(coalesce(x.tags, [])) - 1) WHERE [x.tags[n], x.tag_values[n]] IN $given.tags)
  OR any(n IN range(0, size(coalesce(r.tags, [])) - 1) WHERE [r.tags[n], r.tag_values[n]] IN $given.tags)
MATCH (x)-[:DECLARES]->(n:HwJob)
WHERE $given.namespace IS NULL OR n.namespace = $given.namespace
WITH DISTINCT n
RETURN id(n) AS id, 0.0 AS score, n {.key, .namespace, .name, .owners, .tags, .tag_values, .tag_fields, type: n.processing_type} AS properties
ORDER BY n.key LIMIT $given.limit
