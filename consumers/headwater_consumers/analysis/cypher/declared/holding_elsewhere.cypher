// Declarations of other sets than one that hold of some datasets, jobs and consumers, with what each states of columns
CALL () {
  UNWIND $given.keys AS key
  MATCH (s:HwDataset {key: key})
  RETURN s
  UNION ALL
  UNWIND $given.keys AS key
  MATCH (s:HwJob {key: key})
  RETURN s
  UNION ALL
  UNWIND $given.keys AS key
  MATCH (s:HwConsumer {key: key})
  RETURN s
}
MATCH (s)<-[:DECLARES]-(n:HwDeclaration)
WHERE n.current AND n.set <> $given.set
RETURN properties(n) AS declaration, [(n)-[r:DECLARES]->(c:HwColumn) | [c.name, properties(r)]] AS columns,
  [s.namespace, s.name] AS subject
