// Datasets that a job reads or writes, the one seen last first
MATCH (j:HwJob)-[r:READS|WRITES]->(d:HwDataset)
USING INDEX SEEK j:HwJob(key)
WHERE j.key = $given.key AND type(r) = $given.link
RETURN d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .dropped} AS dataset, properties(r) AS link
ORDER BY r.last_seen IS NULL, r.last_seen DESC, d.key LIMIT $given.most
