// Micro-batches of a query in batch order, from after one batch on, of one run or of any
MATCH (i:Interval)
WHERE i.query = $given.query AND i.batch_id > $given.after AND i.batch_id <= $given.last AND ($given.run IS NULL OR i.run_id = $given.run)
WITH i ORDER BY i.query, i.batch_id LIMIT $given.limit
RETURN i {.*} AS interval,
  [(i)-[u:CONSUMED|PRODUCED]->(d:Dataset) | [type(u), d {.key, .namespace, .name, .title, .type}, properties(u)]] AS uses,
  [(:Interval)-[n:NEXT]->(i) | properties(n)] AS joined, COUNT { (i)<-[:CONFLICTS_WITH]-() } AS conflicts
ORDER BY interval.batch_id
