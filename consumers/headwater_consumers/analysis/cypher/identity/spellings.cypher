// Columns of the datasets of some columns, where these have some that differ by case alone, and no schema has both
UNWIND $given.nodes AS node
MATCH (n:HwColumn) WHERE id(n) = node
WITH DISTINCT n.dataset AS key
MATCH (d:HwDataset {key: key})
WHERE size(COLLECT { MATCH (d)-[:HAS_COLUMN]->(c:HwColumn) RETURN DISTINCT toLower(c.name) }) < COUNT { (d)-[:HAS_COLUMN]->(:HwColumn) }
  AND NOT EXISTS {
    MATCH (d)<-[:OF]-(s:HwSchemaVersion)
    WHERE size(COLLECT { UNWIND s.columns AS path RETURN DISTINCT toLower(path) }) < size(s.columns)
  }
RETURN COLLECT { MATCH (d)-[r:HAS_COLUMN]->(c:HwColumn) RETURN [id(c), c.name] ORDER BY r.last_seen IS NOT NULL, c.name } AS columns
