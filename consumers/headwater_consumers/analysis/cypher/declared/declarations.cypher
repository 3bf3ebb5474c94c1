// Declarations by key, with what each states of columns
UNWIND $given.keys AS key
MATCH (n:HwDeclaration {key: key})
RETURN properties(n) AS declaration, [(n)-[r:DECLARES]->(c:HwColumn) | [c.name, properties(r)]] AS columns,
  [(n)-[:DECLARES]->(s:HwDataset|HwJob|HwConsumer) | [s.namespace, s.name]][0] AS subject
