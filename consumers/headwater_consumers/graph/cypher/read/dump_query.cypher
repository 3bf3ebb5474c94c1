// A page of queries in order of key, with what leaves them
MATCH (n:HwQuery)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:OF|READS|WRITES|USED]->(m) | [type(r), m.key, properties(r)]] AS leaving
