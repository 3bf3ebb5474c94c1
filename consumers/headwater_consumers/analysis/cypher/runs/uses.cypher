// What a run itself reports that it read or wrote
MATCH (:HwRun {key: $given.run})-[u:CONSUMED|PRODUCED]->(d:HwDataset)
WHERE type(u) = $given.use
RETURN d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS dataset, properties(u) AS part
ORDER BY dataset.namespace, dataset.name, coalesce(part.ordinal, 0) LIMIT $given.limit
