// Jobs by words, best first
CALL db.index.fulltext.queryNodes('headwater_job_words', $given.query, {limit: $given.looked_at}) YIELD node AS n, score
WHERE n.tenant = $given.tenant AND ($given.namespace IS NULL OR n.namespace = $given.namespace)
RETURN id(n) AS id, score, n {.key, .namespace, .name, .owners, .tags, .tag_values, .tag_fields, type: n.processing_type} AS properties
ORDER BY score DESC, n.key LIMIT $given.limit
