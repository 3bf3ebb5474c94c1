// Datasets, of some, that have an owner, and those that have a tag: as events report them, or as declared
UNWIND $given.keys AS key
MATCH (n:HwDataset {key: key})
WITH key, $given.owner IN n.owners OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current AND $given.owner IN x.owners } AS owned,
  any(i IN range(0, size(coalesce(n.tags, [])) - 1) WHERE n.tags[i] = $given.tag AND ($given.value IS NULL OR n.tag_values[i] = $given.value))
    OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current
      AND any(i IN range(0, size(coalesce(x.tags, [])) - 1) WHERE x.tags[i] = $given.tag AND ($given.value IS NULL OR x.tag_values[i] = $given.value)) }
    OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration)-[r:DECLARES]->(:HwColumn) WHERE x.current
      AND any(i IN range(0, size(coalesce(r.tags, [])) - 1) WHERE r.tags[i] = $given.tag AND ($given.value IS NULL OR r.tag_values[i] = $given.value)) } AS tagged
RETURN collect(CASE WHEN owned THEN key END) AS owned, collect(CASE WHEN tagged THEN key END) AS tagged
