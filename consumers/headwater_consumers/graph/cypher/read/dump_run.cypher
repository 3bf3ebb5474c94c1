// A page of runs in order of key, with what leaves them
MATCH (n:HwRun)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:OF|IN_QUERY|CHILD_OF|CONSUMED|PRODUCED|READ|WROTE|USED]->(m) | [type(r), m.key, properties(r)]] AS leaving
