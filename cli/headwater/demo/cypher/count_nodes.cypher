// How many nodes of each label
MATCH (node)
WHERE node.key IS NOT NULL
UNWIND labels(node) AS label
WITH label
WHERE label STARTS WITH 'Hw'
RETURN substring(label, 2) AS label, count(*) AS count
ORDER BY label
