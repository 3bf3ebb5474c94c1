// Jobs of an impact, with their owners
UNWIND $given.keys AS key
MATCH (j:HwJob {key: key})
CALL (j) {
  MATCH (j)<-[:DECLARES]-(x:HwDeclaration)-[:IN_SET]->(by:HwDeclarationSet) WHERE x.current
  WITH x ORDER BY by.name
  RETURN head(collect(CASE WHEN x.owners IS NOT NULL THEN x END)) AS owned, head(collect(x.criticality)) AS criticality
}
RETURN collect({properties: j {.key, .namespace, .name, .processing_type}, criticality: coalesce(criticality, j.criticality),
  owners: CASE WHEN owned IS NULL THEN coalesce(j.owners, []) ELSE owned.owners END,
  owner_types: CASE WHEN owned IS NULL THEN coalesce(j.owner_types, []) ELSE owned.owner_types END}) AS jobs
