// A page of versions in order of key, with what leaves them
MATCH (n:HwVersion)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:OF]->(m) | [type(r), m.key, properties(r)]] AS leaving
