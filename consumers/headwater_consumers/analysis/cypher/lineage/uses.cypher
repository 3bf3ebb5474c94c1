// Uses of plans by which jobs write datasets, since a time and by another, the latest ones; times in microseconds
UNWIND $given.pairs AS pair
CALL (pair) {
  MATCH (o)-[u:USED]->(p:HwPlan)
  WHERE u._job = pair[0] AND u.first_seen >= pair[2] AND u.first_seen <= $given.until
  WITH o, u, p ORDER BY u._job DESC, u.first_seen DESC LIMIT $given.most
  WITH o, u, p WHERE pair[1] IN p._outputs
  OPTIONAL MATCH (o)-[:CHILD_OF]->(parent:HwRun) WHERE o.query_id IS NULL
  WITH o, u, p, parent, CASE WHEN u.last_seen > $given.until THEN $given.until ELSE u.last_seen END AS ended,
    o.state = 'COMPLETE' AND o.ended_at <= $given.until AS ran
  RETURN collect([p.key, coalesce(parent, o).key,
    u.first_seen.epochMillis * 1000 + u.first_seen.microsecond % 1000,
    ended.epochMillis * 1000 + ended.microsecond % 1000,
    CASE
      WHEN o:HwQuery THEN true
      WHEN o.query_id IS NOT NULL THEN o.first_batch IS NOT NULL OR o.state IN ['RUNNING', 'COMPLETE']
      ELSE ran AND (parent.state IS NULL OR (parent.state = 'COMPLETE' AND parent.ended_at <= $given.until))
    END,
    CASE WHEN ran AND o.query_id IS NULL
      THEN [(o)-[w:PRODUCED]->(d:HwDataset)
        WHERE d.key = pair[1] AND (w.facet_names IS NOT NULL OR w.operation IS NOT NULL)
        | w {.facet_names, .facets, .operation}]
      ELSE [] END]) AS uses
}
RETURN pair[0] AS job, pair[1] AS dataset, uses
