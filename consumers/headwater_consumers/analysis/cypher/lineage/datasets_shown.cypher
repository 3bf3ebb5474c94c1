// Which datasets the filters leave
UNWIND $given.nodes AS node
MATCH (n:HwDataset) WHERE id(n) = node
  AND ($given.namespaces IS NULL OR n.namespace IN $given.namespaces)
  AND ($given.types IS NULL OR toUpper(n.type) IN $given.types)
  AND ($given.tags IS NULL OR any(i IN range(0, size(coalesce(n.tags, [])) - 1)
    WHERE n.tags[i] IN $given.tags OR n.tags[i] + '=' + n.tag_values[i] IN $given.tags))
RETURN collect(node) AS nodes
