// The latest micro-batch with assertions of which none failed, among the latest ones of a query
MATCH (i:Interval)
WHERE i.query = $given.query AND i.batch_id >= $given.first
WITH i ORDER BY i.query DESC, i.batch_id DESC LIMIT $given.looked_back
WITH i WHERE size(i.quality_passed) > 0 AND NOT false IN i.quality_passed
WITH i LIMIT 1
RETURN i {.*} AS interval,
  [(i)-[u:CONSUMED|PRODUCED]->(d:Dataset) | [type(u), d {.key, .namespace, .name, .title, .type}, properties(u)]] AS uses,
  [(:Interval)-[n:NEXT]->(i) | properties(n)] AS joined, COUNT { (i)<-[:CONFLICTS_WITH]-() } AS conflicts
