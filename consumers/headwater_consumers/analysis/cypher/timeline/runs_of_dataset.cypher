// The latest runs that read or wrote a dataset, in a span of time
UNWIND $given.ids AS id
MATCH (d) WHERE id(d) = id
MATCH (r:HwRun)-[:OF]->(:HwJob)-[:READS|WRITES]->(d)
WITH DISTINCT r, coalesce(r.started_at, r.first_seen) AS began
WHERE ($given.begin IS NULL OR coalesce(r.ended_at, r.inferred_ended_at, began) >= $given.begin) AND ($given.end IS NULL OR began < $given.end)
  AND (EXISTS { (r)-[:CONSUMED|PRODUCED]->(d) WHERE id(d) IN $given.ids }
    OR EXISTS { (r)-[:IN_QUERY]->(:HwQuery)-[:READS|WRITES]->(d) WHERE id(d) IN $given.ids })
RETURN r {.key, .run_id, state: coalesce(r.inferred_state, r.state), .processing_type, .started_at, ended_at: coalesce(r.ended_at, r.inferred_ended_at), .inferred_because, .inferred_by, .code_version, .error_message} AS run
ORDER BY began IS NULL, began DESC, r.key LIMIT $given.limit
