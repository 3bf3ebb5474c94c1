// Consumers of datasets and columns, by the ids of these, and which of them each reads
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
CALL (n) {
  MATCH (c:HwConsumer)-[:CONSUMES]->(n)
  RETURN c
  UNION
  MATCH (n)<-[:HAS_COLUMN]-(d:HwDataset)<-[:CONSUMES]-(c:HwConsumer)
  WHERE NOT EXISTS { MATCH (c)-[:CONSUMES]->(other:HwColumn) WHERE other.dataset = d.key }
    // Whoever reads a struct, or a topic's payload, reads each field of it, and the other way round.
    OR EXISTS { MATCH (c)-[:CONSUMES]->(other:HwColumn) WHERE other.dataset = d.key
      AND (n.name STARTS WITH other.name + '.' OR other.name STARTS WITH n.name + '.') }
  RETURN c
}
OPTIONAL MATCH (owner:HwDataset)-[:HAS_COLUMN]->(n)
WITH c, coalesce(owner, n) AS d, CASE WHEN n:HwColumn THEN n END AS column
WHERE c.tenant = $given.tenant
RETURN c.key AS key, c.name AS name,
  collect({dataset: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type}, column: column {.key, .name, .data_type}}) AS reads
