// Datasets of a page
UNWIND $nodes AS node
MATCH (n:Dataset) WHERE id(n) = node
RETURN node, n {.key, .namespace, .name, .title, .type} AS properties, coalesce(n.dropped, false) AS gone
