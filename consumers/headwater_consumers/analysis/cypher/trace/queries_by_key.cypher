// Streaming queries by key, with their job
UNWIND $given.keys AS key
MATCH (q:HwQuery {key: key})
RETURN q {.key, .query_id, .name, .first_batch, .last_batch, summarized: q._retired IS NOT NULL,
  contested: EXISTS {
    MATCH (s:HwSegment) USING INDEX SEEK s:HwSegment(_contested, start) WHERE s._contested = q.key AND s.start >= 0
  },
  rewinds: COLLECT {
    MATCH (s:HwSegment) USING INDEX SEEK s:HwSegment(_rewinds) WHERE s._rewinds = q.key RETURN s.rewinds
  },
  job: head([(q)-[:OF]->(j:HwJob) | j {.key, .namespace, .name, .processing_type}])} AS query
