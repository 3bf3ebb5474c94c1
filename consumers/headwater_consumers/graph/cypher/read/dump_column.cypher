// A page of columns in order of key, with what leaves them
MATCH (n:HwColumn)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, EXISTS { (n)<-[:HAS_COLUMN {current: true}]-() } AS current, [(n)-[r:DERIVES|INFLUENCES|RENAMED_TO]->(m) | [type(r), m.key, properties(r)]] AS leaving
