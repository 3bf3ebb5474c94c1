// A page of plans in order of key, with what leaves them
MATCH (n:HwPlan)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:OF|GENERATES]->(m) | [type(r), m.key, properties(r)]] AS leaving
