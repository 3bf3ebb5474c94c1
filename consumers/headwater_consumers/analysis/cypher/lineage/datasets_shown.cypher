// Which datasets the filters leave
UNWIND $nodes AS node
MATCH (n:Dataset) WHERE id(n) = node
  AND ($namespaces IS NULL OR n.namespace IN $namespaces)
  AND ($types IS NULL OR toUpper(n.type) IN $types)
  AND ($tags IS NULL OR any(i IN range(0, size(coalesce(n.tags, [])) - 1)
    WHERE n.tags[i] IN $tags OR n.tags[i] + '=' + n.tag_values[i] IN $tags))
RETURN collect(node) AS nodes
