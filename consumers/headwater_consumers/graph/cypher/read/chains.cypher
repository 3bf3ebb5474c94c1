// Queries: how many intervals of how many batches, and how many other reports of them
MATCH (q:Query)
RETURN q.key AS key, q.tenant AS tenant, q.query_id AS query_id, q.name AS name,
  q.first_batch AS first_batch, q.last_batch AS last_batch,
  COUNT { (q)<-[:IN_QUERY]-(:Interval) } AS intervals,
  COUNT { (q)<-[:IN_QUERY]-(:Interval)<-[:CONFLICTS_WITH]-(:Conflict) } AS conflicts
ORDER BY key
