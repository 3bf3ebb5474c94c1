// Plans of a job that runs used, and how each run wrote; times in microseconds
MATCH (o:HwRun)-[u:USED]->(p:HwPlan)-[:OF]->(:HwJob {key: $given.job})
WHERE o.key IN $given.runs
OPTIONAL MATCH (o)-[:CHILD_OF]->(parent:HwRun) WHERE o.query_id IS NULL
RETURN p.digest AS digest, p.complete AS complete, coalesce(p._outputs, []) AS outputs,
  [p.key, coalesce(parent, o).key,
    u.first_seen.epochMillis * 1000 + u.first_seen.microsecond % 1000,
    u.last_seen.epochMillis * 1000 + u.last_seen.microsecond % 1000,
    CASE
      WHEN o.query_id IS NOT NULL THEN o.first_batch IS NOT NULL OR o.state IN ['RUNNING', 'COMPLETE']
      ELSE o.state = 'COMPLETE' AND (parent.state IS NULL OR parent.state = 'COMPLETE')
    END] AS use,
  CASE WHEN o.state = 'COMPLETE' AND o.query_id IS NULL
    THEN [(o)-[w:PRODUCED]->(d:HwDataset) | w {dataset: d.key, .facet_names, .facets, .operation}] ELSE [] END AS produced
