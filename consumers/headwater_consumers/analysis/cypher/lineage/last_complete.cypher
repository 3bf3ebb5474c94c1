// When the last complete application run of jobs began to write datasets, by a time; in microseconds
UNWIND $given.pairs AS pair
CALL (pair) {
  MATCH (o)-[u:USED]->(p:HwPlan)
  WHERE u._job = pair[0] AND u.first_seen <= $given.until
  WITH o, u, p ORDER BY u._job DESC, u.first_seen DESC LIMIT $given.most
  WITH o, p WHERE pair[1] IN p._outputs
  OPTIONAL MATCH (o)-[:CHILD_OF]->(parent:HwRun) WHERE o.query_id IS NULL
  WITH o, parent
  WHERE CASE
    WHEN o:HwQuery THEN true
    WHEN o.query_id IS NOT NULL THEN o.first_batch IS NOT NULL OR o.state IN ['RUNNING', 'COMPLETE']
    ELSE o.state = 'COMPLETE' AND o.ended_at <= $given.until
      AND (parent.state IS NULL OR (parent.state = 'COMPLETE' AND parent.ended_at <= $given.until))
  END
  RETURN coalesce(parent, o) AS application LIMIT 1
}
CALL (pair, application) {
  MATCH (application)-[u:USED]->(p:HwPlan) WHERE u._job = pair[0] AND pair[1] IN p._outputs
  RETURN u.first_seen AS began
 UNION ALL
  MATCH (application)<-[:CHILD_OF]-(o:HwRun)-[u:USED]->(p:HwPlan)
  WHERE o.query_id IS NULL AND u._job = pair[0] AND pair[1] IN p._outputs
  RETURN u.first_seen AS began
}
WITH pair, min(began) AS began
RETURN pair[0] AS job, pair[1] AS dataset, began.epochMillis * 1000 + began.microsecond % 1000 AS began
