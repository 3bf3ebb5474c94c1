// Columns for which one of some tags is declared, with their datasets
MATCH (x:HwDeclaration)
USING INDEX SEEK x:HwDeclaration(key)
WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset'
MATCH (x)-[t:DECLARES]->(n:HwColumn)
WHERE any(i IN range(0, size(coalesce(t.tags, [])) - 1) WHERE [t.tags[i], t.tag_values[i]] IN $given.tags)
MATCH (d:HwDataset)-[r:HAS_COLUMN]->(n)
WHERE $given.namespace IS NULL OR d.namespace = $given.namespace
WITH DISTINCT n, r, d
RETURN id(n) AS id, 0.0 AS score, n {.key, .name, .data_type, left: r.last_seen IS NOT NULL} AS properties,
  d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .owners, .tags, .tag_values, .tag_fields, .dropped} AS dataset
ORDER BY n.key LIMIT $given.limit
