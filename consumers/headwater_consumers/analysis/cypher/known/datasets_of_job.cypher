// Datasets that a job reads or writes, the one seen last first
MATCH (j:Job)-[r:READS|WRITES]->(d:Dataset)
USING INDEX SEEK j:Job(key)
WHERE j.key = $given.key AND type(r) = $given.link
RETURN d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .dropped} AS dataset, properties(r) AS link
ORDER BY r.last_seen IS NULL, r.last_seen DESC, d.key LIMIT $given.most
