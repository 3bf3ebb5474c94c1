// dump: A page of intervals and conflicts, which only baselines write, in order of key, with what leaves them
MATCH (n:HwInterval|HwConflict)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN substring(labels(n)[0], 2) AS label, properties(n) AS properties,
  [(n)-[r]->(m) | [type(r), m.key, properties(r)]] AS leaving
