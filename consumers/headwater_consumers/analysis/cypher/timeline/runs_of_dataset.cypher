// The latest runs that read or wrote a dataset, in a span of time
MATCH (d:Dataset) WHERE id(d) = $id
MATCH (r:Run)-[:OF]->(:Job)-[:READS|WRITES]->(d)
WITH DISTINCT d, r, coalesce(r.started_at, r.first_seen) AS began
WHERE ($begin IS NULL OR coalesce(r.ended_at, began) >= $begin) AND ($end IS NULL OR began < $end)
  AND (EXISTS { (r)-[:CONSUMED|PRODUCED]->(d) } OR EXISTS { (r)-[:IN_QUERY]->(:Query)-[:READS|WRITES]->(d) })
RETURN r {.key, .run_id, .state, .processing_type, .started_at, .ended_at, .code_version, .error_message} AS run
ORDER BY began IS NULL, began DESC, r.key LIMIT $limit
