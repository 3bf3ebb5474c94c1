// Declarations by key, with what each states of columns
UNWIND $given.keys AS key
MATCH (n:Declaration {key: key})
RETURN properties(n) AS declaration, [(n)-[r:DECLARES]->(c:Column) | [c.name, properties(r)]] AS columns,
  [(n)-[:DECLARES]->(s:Dataset|Job|Consumer) | [s.namespace, s.name]][0] AS subject
