// Consumers of each of some datasets and columns, by the ids of these
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
CALL (n) {
  MATCH (c:Consumer)-[:CONSUMES]->(n)
  RETURN c
  UNION
  MATCH (n)<-[:HAS_COLUMN]-(d:Dataset)<-[:CONSUMES]-(c:Consumer)
  WHERE NOT EXISTS { MATCH (c)-[:CONSUMES]->(other:Column) WHERE other.dataset = d.key }
  RETURN c
}
WITH node, c WHERE c.tenant = $given.tenant
RETURN node, collect(DISTINCT [c.key, c.name]) AS consumers
