// Probes: the first segment at or after a batch, with its latest processing time
UNWIND $given.probes AS probe
CALL (probe) {
  MATCH (s:HwSegment)
  WHERE s.query = probe.query AND s.start >= probe.start
  RETURN s ORDER BY s.query, s.start LIMIT 1
}
RETURN probe.n AS n, probe.start AS at, s.start AS start, s.first_batch AS first, s.last_batch AS last,
  s.last_time.epochMillis * 1000 + s.last_time.microsecond % 1000 AS last_time
