// Segments of queries in a span of time, the latest first, with what is plain to see of each
UNWIND $given.queries AS query
CALL (query) {
  MATCH (s:HwSegment)
  WHERE s.query = query AND s.start >= 0
    AND ($given.begin IS NULL OR s.last_time >= $given.begin) AND ($given.end IS NULL OR s.first_time < $given.end)
  RETURN s ORDER BY s.query DESC, s.start DESC LIMIT $given.segments
}
RETURN query, s.batches AS batches, s.first_batch AS first_batch, s.last_batch AS last_batch,
  s.first_time.epochMillis * 1000 + s.first_time.microsecond % 1000 AS first_time,
  s.last_time.epochMillis * 1000 + s.last_time.microsecond % 1000 AS last_time,
  size(coalesce(s.broken, [])) AS broken,
  reduce(total = 0, each IN coalesce(s.missing, []) | total + each) AS missing,
  reduce(total = 0, each IN coalesce(s.gaps, []) | total + each) AS gaps,
  reduce(total = 0, each IN coalesce(s.overlaps, []) | total + each) AS overlaps,
  size(coalesce(s.rewinds, [])) AS rewinds, coalesce(s.contested, []) AS contested,
  size(coalesce(s.failed, [])) AS failed, size(coalesce(s.reconciled, [])) AS reconciled
