// Datasets that runs read and wrote, by what they say themselves and by their plans
MATCH (r:HwRun) WHERE r.key IN $given.runs
CALL (r) {
  MATCH (r)-[u:CONSUMED|PRODUCED]->(d:HwDataset)
  RETURN CASE type(u) WHEN 'CONSUMED' THEN 'READS' ELSE 'WRITES' END AS type, d
 UNION
  MATCH (r)-[:IN_QUERY]->(:HwQuery)-[l:READS|WRITES]->(d:HwDataset)
  WHERE l.first_seen <= r.last_seen AND l.last_seen >= r.first_seen
  RETURN type(l) AS type, d
}
RETURN DISTINCT type, d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS dataset
