// Columns of a page, and datasets as a whole
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
OPTIONAL MATCH (d:HwDataset)-[r:HAS_COLUMN]->(n)
RETURN node, CASE WHEN d IS NULL THEN n {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} END AS whole,
  d {.namespace, .name, .title, .symlinks, .symlink_types} AS dataset, n {.key, .name, .data_type} AS properties,
  CASE WHEN d IS NULL THEN coalesce(n.dropped, false) ELSE r.last_seen IS NOT NULL END AS gone
