// Keys of columns, and of datasets that stand for their rows
UNWIND $given.nodes AS node
MATCH (n) WHERE id(n) = node
RETURN collect(node) AS nodes, collect(n.key) AS keys
