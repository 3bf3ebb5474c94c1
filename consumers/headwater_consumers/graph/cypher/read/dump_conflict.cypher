// A page of conflicts in order of key, with what leaves them
MATCH (n:Conflict)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:CONFLICTS_WITH|IN_RUN|CONSUMED|PRODUCED|READ|WROTE]->(m) | [type(r), m.key, properties(r)]] AS leaving
