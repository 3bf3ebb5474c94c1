// Dataset nodes in order of key, those that pass the filters
MATCH (n:HwDataset)
WHERE n.tenant = $given.tenant AND ($given.namespaces IS NULL OR n.namespace IN $given.namespaces)
  AND ($given.owner IS NULL OR $given.owner IN n.owners OR n.key IN $given.owned
    OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current AND $given.owner IN x.owners })
  AND ($given.tag IS NULL OR n.key IN $given.tagged OR any(i IN range(0, size(coalesce(n.tags, [])) - 1) WHERE n.tags[i] = $given.tag AND ($given.value IS NULL OR n.tag_values[i] = $given.value))
    OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current
      AND any(i IN range(0, size(coalesce(x.tags, [])) - 1) WHERE x.tags[i] = $given.tag AND ($given.value IS NULL OR x.tag_values[i] = $given.value)) }
    OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration)-[r:DECLARES]->(:HwColumn) WHERE x.current
      AND any(i IN range(0, size(coalesce(r.tags, [])) - 1) WHERE r.tags[i] = $given.tag AND ($given.value IS NULL OR r.tag_values[i] = $given.value)) })
  AND ($given.types IS NULL OR n.type IN $given.types) AND ($given.gone IS NULL OR coalesce(n.dropped, false) = $given.gone)
  AND n.key > $given.after
RETURN n {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners, .owner_types, .tags, .tag_values, .tag_fields,
  .tag_sources, .classification, .criticality, .dropped} AS properties
ORDER BY n.key LIMIT $given.limit
