// Columns by words, best first, with their datasets
CALL db.index.fulltext.queryNodes('headwater_column_words', $given.query, {limit: $given.looked_at}) YIELD node AS n, score
MATCH (d:HwDataset)-[r:HAS_COLUMN]->(n)
WHERE n.tenant = $given.tenant AND ($given.namespace IS NULL OR d.namespace = $given.namespace)
RETURN id(n) AS id, score, n {.key, .name, .data_type, left: r.last_seen IS NOT NULL} AS properties,
  d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .owners, .tags, .tag_values, .tag_fields, .dropped} AS dataset
ORDER BY score DESC, n.key LIMIT $given.limit
