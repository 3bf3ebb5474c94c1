// Datasets that a consumer reads, with the columns that it reads of each, in order of name
MATCH (c:HwConsumer)
USING INDEX SEEK c:HwConsumer(key)
WHERE c.key = $given.key AND c.tenant = $given.tenant
MATCH (c)-[:CONSUMES]->(d:HwDataset)
WITH c, d, COUNT { (c)-[:CONSUMES]->(:HwDataset) } AS total
ORDER BY d.namespace, d.name, d.key LIMIT $given.most
RETURN d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .dropped, .owners, .owner_types} AS dataset,
  COLLECT { MATCH (c)-[:CONSUMES]->(x:HwColumn) WHERE x.dataset = d.key RETURN x.name ORDER BY x.name LIMIT $given.most_columns } AS columns,
  COUNT { MATCH (c)-[:CONSUMES]->(x:HwColumn) WHERE x.dataset = d.key } AS columns_total, total
