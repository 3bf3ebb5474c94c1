// A page of aliases in order of key; nothing leaves them
MATCH (n:HwAlias)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [] AS leaving
