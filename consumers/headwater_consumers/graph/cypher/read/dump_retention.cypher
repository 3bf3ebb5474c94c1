// A page of retentions in order of key; nothing leaves them
MATCH (n:HwRetention)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [] AS leaving
