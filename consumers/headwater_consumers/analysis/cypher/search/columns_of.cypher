// Columns of some datasets that have for each of some words one that begins with it
MATCH (d:HwDataset)-[r:HAS_COLUMN]->(n:HwColumn)
WHERE d.key IN $given.keys AND d.tenant = $given.tenant AND all(word IN $given.words WHERE ' ' + n._words CONTAINS ' ' + word)
RETURN id(n) AS id, 0.0 AS score, n {.key, .name, .data_type, left: r.last_seen IS NOT NULL} AS properties,
  d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .owners, .tags, .tag_values, .tag_fields, .dropped} AS dataset
ORDER BY n.key LIMIT $given.limit
