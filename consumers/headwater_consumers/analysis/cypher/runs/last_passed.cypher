// The latest micro-batch with assertions of which none failed, among the latest ones of a query
MATCH (s:HwSegment)
WHERE s.query = $given.query AND s.start > $given.first - $given.size AND s.last_passed >= $given.first
WITH s ORDER BY s.query DESC, s.start DESC LIMIT 1
RETURN s.last_passed AS batch
