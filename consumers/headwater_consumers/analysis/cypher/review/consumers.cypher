// Consumers of columns, by the ids of these, and whether they name the column or read its dataset as a whole
UNWIND $given.nodes AS node
MATCH (n:Column) WHERE id(n) = node
CALL (n) {
  MATCH (c:Consumer)-[:CONSUMES]->(n)
  RETURN c, true AS named
  UNION
  MATCH (n)<-[:HAS_COLUMN]-(d:Dataset)<-[:CONSUMES]-(c:Consumer)
  WHERE NOT EXISTS { MATCH (c)-[:CONSUMES]->(other:Column) WHERE other.dataset = d.key }
  RETURN c, false AS named
}
WITH node, c, named WHERE c.tenant = $given.tenant
RETURN node, collect(DISTINCT [c.name, named]) AS consumers
