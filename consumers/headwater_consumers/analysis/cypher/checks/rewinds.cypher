// Batches of streaming queries whose offsets don't go on upwards, but for those that are faults in the graph
MATCH (s:HwSegment)
USING INDEX SEEK s:HwSegment(_rewinds)
WHERE s._rewinds > '' AND s.tenant = $given.tenant
RETURN s._rewinds AS query, [batch IN s.rewinds WHERE NOT batch IN coalesce(s.broken, [])] AS batches ORDER BY query, s.start
