// Names of a dataset's columns
MATCH (:Dataset {key: $given.dataset})-[:HAS_COLUMN]->(n:Column)
RETURN n.name AS name ORDER BY n.position, n.name
