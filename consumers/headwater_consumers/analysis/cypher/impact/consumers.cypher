// Consumers of each of some datasets and columns, by the ids of these
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
CALL (n) {
  MATCH (c:HwConsumer)-[:CONSUMES]->(n)
  RETURN c
  UNION
  MATCH (n)<-[:HAS_COLUMN]-(d:HwDataset)<-[:CONSUMES]-(c:HwConsumer)
  WHERE NOT EXISTS { MATCH (c)-[:CONSUMES]->(other:HwColumn) WHERE other.dataset = d.key }
  RETURN c
}
WITH node, c WHERE c.tenant = $given.tenant
RETURN node, collect(DISTINCT [c.key, c.name]) AS consumers
