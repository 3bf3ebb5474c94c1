// Segments that are partly in a span of time
UNWIND $given.queries AS query
MATCH (s:HwSegment)
WHERE s.query = query AND s.start >= 0
  AND ($given.begin IS NULL OR s.last_time >= $given.begin) AND ($given.end IS NULL OR s.first_time < $given.end)
  AND (s.first_time < $given.begin OR s.last_time >= $given.end)
RETURN s.query AS query, s.first_batch AS first, s.last_batch AS last
