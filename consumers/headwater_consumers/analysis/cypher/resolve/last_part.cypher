// Datasets whose dotted name ends with this part
CALL db.index.fulltext.queryNodes('headwater_dataset_words', $given.query, {limit: $given.looked_at}) YIELD node AS n
WHERE n.tenant = $given.tenant AND n.name ENDS WITH $given.ending AND NOT n.name CONTAINS '/'
RETURN id(n) AS id, n {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS properties ORDER BY n.key LIMIT $given.limit
