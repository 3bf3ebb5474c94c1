// How many Job nodes pass the filters
MATCH (n:HwJob)
WHERE n.tenant = $given.tenant AND ($given.namespaces IS NULL OR n.namespace IN $given.namespaces)
  AND ($given.owner IS NULL OR $given.owner IN n.owners
    OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current AND $given.owner IN x.owners })
  AND ($given.tag IS NULL OR any(i IN range(0, size(coalesce(n.tags, [])) - 1) WHERE n.tags[i] = $given.tag AND ($given.value IS NULL OR n.tag_values[i] = $given.value))
    OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current
      AND any(i IN range(0, size(coalesce(x.tags, [])) - 1) WHERE x.tags[i] = $given.tag AND ($given.value IS NULL OR x.tag_values[i] = $given.value)) })
  AND ($given.types IS NULL OR n.processing_type IN $given.types)
RETURN count(n) AS total
