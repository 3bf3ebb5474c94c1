// The conflicts of intervals go, to be written anew
UNWIND $batch.keys AS key
MATCH (n:Conflict)-[:CONFLICTS_WITH]->(:Interval {key: key})
DETACH DELETE n
