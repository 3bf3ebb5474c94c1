// Assets of a page, with their owners
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
OPTIONAL MATCH (owner:HwDataset)-[r:HAS_COLUMN]->(n)
WITH node, n, coalesce(owner, n) AS d, r
CALL (d) {
  MATCH (d)<-[:DECLARES]-(x:HwDeclaration)-[:IN_SET]->(by:HwDeclarationSet) WHERE x.current
  WITH x ORDER BY by.name
  RETURN head(collect(CASE WHEN x.owners IS NOT NULL THEN x END)) AS owned, head(collect(x.criticality)) AS criticality
}
RETURN collect({node: node, dataset: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type},
  column: CASE WHEN n:HwColumn THEN n {.key, .name, .data_type} END,
  criticality: coalesce(criticality, d.criticality),
  owners: CASE WHEN owned IS NULL THEN coalesce(d.owners, []) ELSE owned.owners END,
  owner_types: CASE WHEN owned IS NULL THEN coalesce(d.owner_types, []) ELSE owned.owner_types END,
  gone: coalesce(d.dropped, false) OR r.last_seen IS NOT NULL}) AS assets
