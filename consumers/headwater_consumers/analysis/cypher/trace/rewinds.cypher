// The first batches after the places where positions of some queries don't go on upwards
MATCH (s:Segment)
USING INDEX SEEK s:Segment(_rewinds)
WHERE s._rewinds IN $given.queries
RETURN s._rewinds AS query, s.rewinds AS batches
