// The latest intervals of each of these queries, before a batch, in a span of time
UNWIND $queries AS query
CALL (query) {
  MATCH (i:Interval {query: query.key})
  WHERE i.batch_id < query.before
    AND ($begin IS NULL OR i.processing_time >= $begin) AND ($end IS NULL OR i.processing_time < $end)
  RETURN i ORDER BY i.query DESC, i.batch_id DESC LIMIT $limit
}
RETURN query.key AS query, i.batch_id AS batch, i.processing_time AS time, id(i) AS interval
ORDER BY query, batch DESC
