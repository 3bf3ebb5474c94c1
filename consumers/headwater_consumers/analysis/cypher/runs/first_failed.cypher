// The first micro-batch with a failed assertion, from after one batch on
MATCH (s:HwSegment)
WHERE s.query = $given.query AND s.start > $given.after - $given.size AND any(batch IN s.failed WHERE batch > $given.after)
WITH s ORDER BY s.query, s.start LIMIT 1
RETURN head([batch IN s.failed WHERE batch > $given.after]) AS batch
