// Summaries of queries in a span of time, the latest first
UNWIND $given.queries AS query
CALL (query) {
  MATCH (s:HwSummary)
  WHERE s.query = query AND s.first_batch >= 0
    AND ($given.begin IS NULL OR s.last_time >= $given.begin) AND ($given.end IS NULL OR s.first_time < $given.end)
  RETURN s ORDER BY s.query DESC, s.first_batch DESC LIMIT $given.summaries
}
RETURN query, s.batches AS batches, s.first_batch AS first_batch, s.last_batch AS last_batch, s.missing AS missing,
  s.first_time.epochMillis * 1000 + s.first_time.microsecond % 1000 AS first_time,
  s.last_time.epochMillis * 1000 + s.last_time.microsecond % 1000 AS last_time
