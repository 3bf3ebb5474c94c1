// The next segment by query and batch id
MATCH (n:Segment)
WHERE n.query > $query OR (n.query = $query AND n.start > $start)
RETURN properties(n) AS properties
ORDER BY n.query, n.start LIMIT 1
