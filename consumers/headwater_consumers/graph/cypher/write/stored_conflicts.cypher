// The conflicts of intervals, to be joined
UNWIND $keys AS key
MATCH (n:Conflict)-[:CONFLICTS_WITH]->(i:Interval {key: key})
RETURN i.key AS interval, properties(n) AS properties,
  [(n)-[r:CONSUMED|PRODUCED]->(d:Dataset) | [type(r), d.key, properties(r)]] AS uses
