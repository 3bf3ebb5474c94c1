// A page of jobs in order of key, with what leaves them
MATCH (n:HwJob)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:READS|WRITES|FEEDS]->(m) | [type(r), m.key, properties(r)]] AS leaving
