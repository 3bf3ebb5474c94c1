// What is declared and reported of columns and datasets that decides a severity; nothing of the others
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
OPTIONAL MATCH (owner:HwDataset)-[:HAS_COLUMN]->(n)
WITH node, n, coalesce(owner, n) AS d
WITH node, coalesce(d.classification, '') AS classification,
  [(n)<-[r:DECLARES]-(x:HwDeclaration {current: true}) WHERE n:HwColumn | [x.set, r {.sensitivity, .classification}]] AS own,
  [(d)<-[:DECLARES]-(x:HwDeclaration {current: true}) | [x.set, x {.sensitivity, .classification, .freshness_seconds,
    .deadline}]] AS whole
WHERE classification <> '' OR size(own) + size(whole) > 0
RETURN collect({node: node, classification: classification, own: own, whole: whole}) AS declared
