// The latest intervals of each of these queries, before a batch, in a span of time
UNWIND $given.queries AS query
CALL (query) {
  MATCH (i:Interval {query: query.key})
  WHERE i.batch_id < query.before
    AND ($given.begin IS NULL OR i.processing_time >= $given.begin) AND ($given.end IS NULL OR i.processing_time < $given.end)
  RETURN i ORDER BY i.query DESC, i.batch_id DESC LIMIT $given.limit
}
RETURN query.key AS query, i.batch_id AS batch, i.processing_time AS time, id(i) AS interval
ORDER BY query, batch DESC
