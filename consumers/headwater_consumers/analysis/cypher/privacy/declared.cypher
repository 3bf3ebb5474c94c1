// What is declared of the sensitivity of columns
UNWIND $given.nodes AS node
MATCH (c:HwColumn) WHERE id(c) = node
OPTIONAL MATCH (d:HwDataset)-[:HAS_COLUMN]->(c)
WITH node, c, d, [(c)<-[r:DECLARES]-(:HwDeclaration {current: true}) | r {.sensitivity, .classification, .smallest_group,
    .approval_covers, .approval_sensitivity, .approval_by, .approval_reason, .approval_until}] AS own,
  [(d)<-[:DECLARES]-(x:HwDeclaration {current: true}) | x {.sensitivity, .classification}] AS whole
WHERE own <> [] OR whole <> [] OR coalesce(d.classification, '') <> ''
RETURN node, own, whole, coalesce(d.classification, '') AS observed
