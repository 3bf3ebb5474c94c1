// A page of datasets in order of key, with what leaves them
MATCH (n:HwDataset)
WHERE n.key > $after
WITH n ORDER BY n.key LIMIT $page
RETURN properties(n) AS properties, [(n)-[r:HAS_COLUMN|FEEDS|GOES_INTO|DERIVES|INFLUENCES|KNOWN_AS|RENAMED_TO|DROPPED]->(m) | [type(r), m.key, properties(r)]] AS leaving
