// Datasets by words of their other names, best first
CALL db.index.fulltext.queryNodes('headwater_alias_words', $given.query, {limit: $given.looked_at}) YIELD node AS a, score
WHERE a.tenant = $given.tenant
MATCH (a)<-[:KNOWN_AS]-(n:HwDataset) WHERE $given.namespace IS NULL OR n.namespace = $given.namespace
WITH n, max(score) AS score, collect(a.name) AS aliases
RETURN id(n) AS id, score, n {.key, .namespace, .name, .owners, .tags, .tag_values, .tag_fields, .title, .type, .symlinks, .symlink_types, .dropped, aliases: aliases} AS properties
ORDER BY score DESC, n.key LIMIT $given.limit
