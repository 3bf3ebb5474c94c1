// The first micro-batch with a failed assertion, from after one batch on
MATCH (i:Interval)
WHERE i.query = $given.query AND i.batch_id > $given.after AND false IN i.quality_passed
WITH i ORDER BY i.query, i.batch_id LIMIT 1
RETURN i {.*} AS interval,
  [(i)-[u:CONSUMED|PRODUCED]->(d:Dataset) | [type(u), d {.key, .namespace, .name, .title, .type}, properties(u)]] AS uses,
  [(:Interval)-[n:NEXT]->(i) | properties(n)] AS joined, COUNT { (i)<-[:CONFLICTS_WITH]-() } AS conflicts
