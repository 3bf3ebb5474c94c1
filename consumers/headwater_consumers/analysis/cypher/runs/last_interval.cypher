// The last micro-batch of a run
MATCH (i:Interval)
WHERE i.query = $given.query AND i.batch_id >= $given.first AND i.batch_id <= $given.last AND i.run_id = $given.run
WITH i ORDER BY i.query DESC, i.batch_id DESC LIMIT 1
RETURN i {.*} AS interval,
  [(i)-[u:CONSUMED|PRODUCED]->(d:Dataset) | [type(u), d {.key, .namespace, .name, .title, .type}, properties(u)]] AS uses,
  [(:Interval)-[n:NEXT]->(i) | properties(n)] AS joined, COUNT { (i)<-[:CONFLICTS_WITH]-() } AS conflicts
