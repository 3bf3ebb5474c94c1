// Probes: the first intervals at or after a batch, with its times and watermarks
UNWIND $probes AS probe
CALL (probe) {
  MATCH (i:Interval)
  WHERE i.query = probe.query AND i.batch_id >= probe.at
  RETURN i ORDER BY i.query, i.batch_id LIMIT $window
}
RETURN probe.n AS n, probe.at AS at, i.batch_id AS batch, i.processing_time AS processing_time,
  i.watermark_before AS watermark_before, i.watermark_after AS watermark_after
