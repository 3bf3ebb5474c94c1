// How many nodes of each label
MATCH (node)
WHERE node.key IS NOT NULL
UNWIND labels(node) AS label
RETURN label, count(*) AS count
ORDER BY label
