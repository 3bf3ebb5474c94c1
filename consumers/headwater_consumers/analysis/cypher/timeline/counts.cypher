// How many micro-batches these queries have, in segments that are wholly in a span of time
UNWIND $given.queries AS query
MATCH (s:HwSegment)
WHERE s.query = query AND s.start >= 0
  AND ($given.begin IS NULL OR s.first_time >= $given.begin) AND ($given.end IS NULL OR s.last_time < $given.end)
RETURN coalesce(sum(CASE WHEN $given.begin IS NULL AND $given.end IS NULL THEN s.batches ELSE s.timed END), 0) AS total
