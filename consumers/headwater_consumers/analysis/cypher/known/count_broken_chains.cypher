// How many pairs of neighbouring micro-batches don't fit together
MATCH (s:HwSegment)
USING INDEX s:HwSegment(_broken)
WHERE s._broken IS NOT NULL AND s.tenant = $given.tenant
RETURN sum(size(s.broken)) AS total
