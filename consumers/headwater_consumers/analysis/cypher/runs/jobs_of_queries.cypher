// The jobs of streaming queries; of several the first by key
UNWIND $given.queries AS key
MATCH (:HwQuery {key: key})-[:OF]->(j:HwJob)
WITH key, j ORDER BY j.key
WITH key, collect(j)[0] AS j
RETURN key, j.namespace AS namespace, j.name AS name
