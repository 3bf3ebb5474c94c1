// A page of declarations in order of key, with what leaves them
MATCH (n:HwDeclaration)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:DECLARES|IN_SET]->(m) | [type(r), m.key, properties(r)]] AS leaving
