// Consumers of columns, by the ids of these, and whether they name the column or read its dataset as a whole
UNWIND $given.nodes AS node
MATCH (n:HwColumn) WHERE id(n) = node
CALL (n) {
  MATCH (c:HwConsumer)-[:CONSUMES]->(n)
  RETURN c, true AS named
  UNION
  MATCH (n)<-[:HAS_COLUMN]-(d:HwDataset)<-[:CONSUMES]-(c:HwConsumer)
  WHERE NOT EXISTS { MATCH (c)-[:CONSUMES]->(other:HwColumn) WHERE other.dataset = d.key }
  RETURN c, false AS named
}
WITH node, c, named WHERE c.tenant = $given.tenant
RETURN node, collect(DISTINCT [c.name, named]) AS consumers
