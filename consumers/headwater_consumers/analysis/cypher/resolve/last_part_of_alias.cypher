// Datasets one of whose other dotted names ends with this part
CALL db.index.fulltext.queryNodes('headwater_alias_words', $given.query, {limit: $given.looked_at}) YIELD node AS a
WHERE a.tenant = $given.tenant AND a.name ENDS WITH $given.ending AND NOT a.name CONTAINS '/'
MATCH (a)<-[:KNOWN_AS]-(n:HwDataset)
RETURN DISTINCT id(n) AS id, n {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS properties ORDER BY properties.key LIMIT $given.limit
