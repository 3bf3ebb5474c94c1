// Dataset nodes in order of key, those that pass the filters
MATCH (n:Dataset)
WHERE n.tenant = $given.tenant AND ($given.namespaces IS NULL OR n.namespace IN $given.namespaces)
  AND ($given.owner IS NULL OR $given.owner IN n.owners)
  AND ($given.tag IS NULL OR any(i IN range(0, size(coalesce(n.tags, [])) - 1) WHERE n.tags[i] = $given.tag AND ($given.value IS NULL OR n.tag_values[i] = $given.value)))
  AND ($given.types IS NULL OR n.type IN $given.types) AND ($given.gone IS NULL OR coalesce(n.dropped, false) = $given.gone)
  AND n.key > $given.after
RETURN n {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners, .owner_types, .tags, .tag_values, .tag_fields,
  .tag_sources, .classification, .criticality, .dropped} AS properties
ORDER BY n.key LIMIT $given.limit
