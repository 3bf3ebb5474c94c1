// Streaming queries of a job, for its timeline
MATCH (q:HwQuery)-[:OF]->(j:HwJob) WHERE id(j) = $given.id
RETURN q {.key, .query_id, .query_name, .checkpoint_location, .first_batch, .last_batch} AS query
ORDER BY q.key
