// Declarations of other sets than one that hold of some datasets, jobs and consumers, with what each states of columns
CALL () {
  UNWIND $given.keys AS key
  MATCH (s:Dataset {key: key})
  RETURN s
  UNION ALL
  UNWIND $given.keys AS key
  MATCH (s:Job {key: key})
  RETURN s
  UNION ALL
  UNWIND $given.keys AS key
  MATCH (s:Consumer {key: key})
  RETURN s
}
MATCH (s)<-[:DECLARES]-(n:Declaration)
WHERE n.current AND n.set <> $given.set
RETURN properties(n) AS declaration, [(n)-[r:DECLARES]->(c:Column) | [c.name, properties(r)]] AS columns,
  [s.namespace, s.name] AS subject
