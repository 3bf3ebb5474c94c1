// Micro-batches that took longest beside their query's median, among its latest 10,000
MATCH (query:HwQuery)
CALL (query) {
  MATCH (segment:HwSegment) WHERE segment.query = query.key AND segment.start >= 0
  WITH segment ORDER BY segment.query DESC, segment.start DESC LIMIT 20
  UNWIND ['0', '1', '2', '3', '4', '5', '6', '7', 'tail'] AS part
  UNWIND range(0, coalesce(size(segment['batch_ids_' + part]), 0) - 1) AS at
  WITH segment, part, at, segment['durations_ms_' + part][at] AS ms WHERE ms >= 0
  WITH percentileCont(ms, 0.5) AS median_ms, collect([segment, part, at, ms]) AS batches
  UNWIND [one IN batches WHERE one[3] > 2 * median_ms] AS one
  RETURN median_ms, one[0] AS segment, one[1] AS part, one[2] AS at, one[3] AS ms
}
RETURN query.name AS query, segment['batch_ids_' + part][at] AS batch_id, ms, round(median_ms) AS median_ms,
       nullIf(segment['rows_in_' + part][at], -1) AS rows_in,
       head([time IN [segment['processing_times_' + part][at]] WHERE time <> -1 | datetime({epochMillis: time})]) AS at
ORDER BY ms / median_ms DESC
LIMIT 50
