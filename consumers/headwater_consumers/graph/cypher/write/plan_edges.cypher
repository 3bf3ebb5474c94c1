// Edges of plans whose lineage wasn't known before
CALL () { UNWIND $batch.columns AS key OPTIONAL MATCH (x:HwColumn {key: key}) RETURN collect([x]) AS columns }
CALL () { UNWIND $batch.datasets AS key OPTIONAL MATCH (x:HwDataset {key: key}) RETURN collect([x]) AS datasets }
CALL () { UNWIND $batch.plans AS key OPTIONAL MATCH (x:HwPlan {key: key}) RETURN collect([x]) AS plans }
WITH columns + datasets + plans AS nodes
FOREACH (edge IN $batch.derives |
  FOREACH (a IN nodes[edge.start] | FOREACH (b IN nodes[edge.end] |
    CREATE (a)-[r:DERIVES]->(b) SET r = edge.properties)))
FOREACH (edge IN $batch.influences |
  FOREACH (a IN nodes[edge.start] | FOREACH (b IN nodes[edge.end] |
    CREATE (a)-[r:INFLUENCES]->(b) SET r = edge.properties)))
FOREACH (edge IN $batch.generates |
  FOREACH (a IN nodes[edge.start] | FOREACH (b IN nodes[edge.end] |
    CREATE (a)-[r:GENERATES]->(b) SET r = edge.properties)))
