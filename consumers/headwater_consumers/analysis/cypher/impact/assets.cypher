// Assets of a page, with their owners
UNWIND $nodes AS node
MATCH (n) WHERE id(n) = node
OPTIONAL MATCH (owner:Dataset)-[r:HAS_COLUMN]->(n)
WITH node, n, coalesce(owner, n) AS d, r
RETURN node, d {.key, .namespace, .name, .title, .type} AS dataset,
  CASE WHEN n:Column THEN n {.key, .name, .data_type} END AS column,
  d.criticality AS criticality, coalesce(d.owners, []) AS owners, coalesce(d.owner_types, []) AS owner_types,
  coalesce(d.dropped, false) OR r.last_seen IS NOT NULL AS gone
