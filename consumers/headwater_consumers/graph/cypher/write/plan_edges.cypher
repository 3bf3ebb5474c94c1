// Edges of plans whose lineage wasn't known before
CALL () { UNWIND $columns AS key OPTIONAL MATCH (x:Column {key: key}) RETURN collect([x]) AS columns }
CALL () { UNWIND $datasets AS key OPTIONAL MATCH (x:Dataset {key: key}) RETURN collect([x]) AS datasets }
CALL () { UNWIND $plans AS key OPTIONAL MATCH (x:Plan {key: key}) RETURN collect([x]) AS plans }
WITH columns + datasets + plans AS nodes
FOREACH (edge IN $derives |
  FOREACH (a IN nodes[edge.start] | FOREACH (b IN nodes[edge.end] |
    CREATE (a)-[r:DERIVES]->(b) SET r = edge.properties)))
FOREACH (edge IN $influences |
  FOREACH (a IN nodes[edge.start] | FOREACH (b IN nodes[edge.end] |
    CREATE (a)-[r:INFLUENCES]->(b) SET r = edge.properties)))
FOREACH (edge IN $generates |
  FOREACH (a IN nodes[edge.start] | FOREACH (b IN nodes[edge.end] |
    CREATE (a)-[r:GENERATES]->(b) SET r = edge.properties)))
