// Datasets that a job reads or writes, the one seen last first
MATCH (:Job {key: $given.key})-[r:READS|WRITES]->(d:Dataset) WHERE type(r) = $given.link
RETURN d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .dropped} AS dataset, properties(r) AS link
ORDER BY r.last_seen IS NULL, r.last_seen DESC, d.key LIMIT $given.most
