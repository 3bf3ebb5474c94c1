// A page of consumers in order of key, with what leaves them
MATCH (n:HwConsumer)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:CONSUMES]->(m) | [type(r), m.key, properties(r)]] AS leaving
