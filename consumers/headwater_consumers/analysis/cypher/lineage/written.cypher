// Keys of the datasets that these are, or are columns of
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
RETURN collect(node) AS nodes, collect(coalesce(n.dataset, n.key)) AS datasets
