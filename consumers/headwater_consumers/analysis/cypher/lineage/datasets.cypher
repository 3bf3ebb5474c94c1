// Datasets of a page
UNWIND $nodes AS node
MATCH (n) WHERE id(n) = node
RETURN collect([node, n {.key, .namespace, .name, .title, .type}, coalesce(n.dropped, false)]) AS datasets
