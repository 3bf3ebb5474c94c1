// Which columns, and datasets as a whole, the filters leave
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
OPTIONAL MATCH (owner:HwDataset)-[:HAS_COLUMN]->(n)
WITH node, n, coalesce(owner, n) AS d, CASE WHEN n:HwColumn THEN n.name END AS field
WHERE ($given.namespaces IS NULL OR d.namespace IN $given.namespaces)
  AND ($given.types IS NULL OR toUpper(d.type) IN $given.types)
  AND ($given.tags IS NULL OR any(i IN range(0, size(coalesce(d.tags, [])) - 1)
    WHERE (d.tags[i] IN $given.tags OR d.tags[i] + '=' + d.tag_values[i] IN $given.tags)
      AND (field IS NULL OR d.tag_fields[i] IN ['', field])))
RETURN collect(node) AS nodes
