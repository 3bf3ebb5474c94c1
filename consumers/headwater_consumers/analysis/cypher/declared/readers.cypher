// Consumers of datasets and columns, by the ids of these, and whether they name the column or read its dataset as a whole
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
CALL (n) {
  MATCH (c:HwConsumer)-[:CONSUMES]->(n)
  RETURN c, true AS named
  UNION
  MATCH (n)<-[:HAS_COLUMN]-(d:HwDataset)<-[:CONSUMES]-(c:HwConsumer)
  WHERE NOT EXISTS { MATCH (c)-[:CONSUMES]->(other:HwColumn) WHERE other.dataset = d.key }
  RETURN c, false AS named
  UNION
  // Whoever reads a struct, or a topic's payload, reads each field of it, and the other way round.
  MATCH (n)<-[:HAS_COLUMN]-(d:HwDataset)<-[:CONSUMES]-(c:HwConsumer)-[:CONSUMES]->(other:HwColumn)
  WHERE other.dataset = d.key AND (n.name STARTS WITH other.name + '.' OR other.name STARTS WITH n.name + '.')
  RETURN c, true AS named
}
WITH node, c, named WHERE c.tenant = $given.tenant
RETURN node, collect(DISTINCT [c.key, c.name, named]) AS consumers
