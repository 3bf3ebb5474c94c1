// Micro-batches that don't fit the one before, query by query: by the index of what is broken
MATCH (s:HwSegment)
USING INDEX SEEK s:HwSegment(_broken)
WHERE s._broken >= $given.after AND s.tenant = $given.tenant AND (s._broken > $given.after OR any(batch IN s.broken WHERE batch > $given.batch))
WITH s ORDER BY s._broken, s.start LIMIT $given.limit
UNWIND s.broken AS batch
WITH s, batch WHERE s._broken > $given.after OR batch > $given.batch
WITH s, batch ORDER BY s._broken, batch LIMIT $given.limit
MATCH (q:HwQuery {key: s._broken})
OPTIONAL MATCH (q)-[:OF]->(j:HwJob)
WITH q, batch, min(j.key) AS job
OPTIONAL MATCH (j:HwJob {key: job})
RETURN q {.key, .query_id, .query_name} AS query, j {.namespace, .name} AS job, batch
ORDER BY q.key, batch
