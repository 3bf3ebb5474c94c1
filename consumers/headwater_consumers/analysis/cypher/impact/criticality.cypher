// Declared criticality of datasets, by the ids of these
UNWIND $given.nodes AS node
MATCH (d:HwDataset)<-[:DECLARES]-(x:HwDeclaration) WHERE id(d) = node AND x.current AND x.criticality IS NOT NULL
WITH node, x ORDER BY x.set
RETURN node, head(collect([x.set, x.criticality])) AS declared
