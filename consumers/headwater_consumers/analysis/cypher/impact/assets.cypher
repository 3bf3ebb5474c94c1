// Assets of a page, with their owners
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
OPTIONAL MATCH (owner:Dataset)-[r:HAS_COLUMN]->(n)
WITH node, n, coalesce(owner, n) AS d, r
RETURN collect({node: node, dataset: d {.key, .namespace, .name, .title, .type},
  column: CASE WHEN n:Column THEN n {.key, .name, .data_type} END,
  criticality: d.criticality, owners: coalesce(d.owners, []), owner_types: coalesce(d.owner_types, []),
  gone: coalesce(d.dropped, false) OR r.last_seen IS NOT NULL}) AS assets
