// Columns of datasets that are drawn, in the order of their schemas
UNWIND $given.nodes AS node
MATCH (d:HwDataset) WHERE id(d) = node
CALL (d) {
  MATCH (d)-[r:HAS_COLUMN]->(c:HwColumn) WHERE r.last_seen IS NULL
  WITH c ORDER BY c.position IS NULL, c.position, c.name
  RETURN count(c) AS total, collect(c {.key, .name, type: c.data_type})[..$given.most] AS columns
}
RETURN node, total, columns
