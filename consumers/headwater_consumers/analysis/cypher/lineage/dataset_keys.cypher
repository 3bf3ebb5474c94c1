// Keys of datasets
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
RETURN collect(node) AS nodes, collect(n.key) AS keys
