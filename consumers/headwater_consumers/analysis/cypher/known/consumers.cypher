// Consumers that are declared now in order of key, those that pass the filters
MATCH (n:HwConsumer)
USING INDEX SEEK n:HwConsumer(key)
WHERE n.key > $given.after AND n.tenant = $given.tenant AND EXISTS {
  (n)<-[:DECLARES]-(x:HwDeclaration)
  WHERE x.current AND ($given.types IS NULL OR x.type IN $given.types) }
  AND ($given.owner IS NULL OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current AND $given.owner IN x.owners })
  AND ($given.tag IS NULL OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current
    AND any(i IN range(0, size(coalesce(x.tags, [])) - 1) WHERE x.tags[i] = $given.tag AND ($given.value IS NULL OR x.tag_values[i] = $given.value)) })
RETURN n {.key, .name} AS properties
ORDER BY n.key LIMIT $given.limit
