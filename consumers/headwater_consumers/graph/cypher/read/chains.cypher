// Queries: how many micro-batches of how many batches, and how many other reports of them
MATCH (q:HwQuery)
OPTIONAL MATCH (q)<-[:IN_QUERY]-(s:HwSegment)
WITH q, sum(coalesce(s.batches, 0)) AS intervals, sum(size(coalesce(s.contested, []))) AS conflicts
RETURN q.key AS key, q.tenant AS tenant, q.query_id AS query_id, q.name AS name,
  q.first_batch AS first_batch, q.last_batch AS last_batch,
  intervals, conflicts,
  reduce(total = 0, n IN range(0, size(coalesce(q._retired, [])) - 2, 2) | total + q._retired[n + 1] - q._retired[n]) AS retired
ORDER BY key
