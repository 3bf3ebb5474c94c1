// A page of intervals in order of key, with what leaves them
MATCH (n:Interval)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:IN_QUERY|IN_RUN|CONSUMED|PRODUCED|READ|WROTE|NEXT]->(m) | [type(r), m.key, properties(r)]] AS leaving
