// Datasets by words, best first
CALL db.index.fulltext.queryNodes('headwater_dataset_words', $given.query, {limit: $given.looked_at}) YIELD node AS n, score
WHERE n.tenant = $given.tenant AND ($given.namespace IS NULL OR n.namespace = $given.namespace)
RETURN id(n) AS id, score, n {.key, .namespace, .name, .owners, .tags, .tag_values, .tag_fields, .title, .type, .symlinks, .symlink_types, .dropped} AS properties
ORDER BY score DESC, n.key LIMIT $given.limit
