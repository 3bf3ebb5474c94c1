// Segments of queries with all of their blocks
UNWIND $given.stretches AS stretch
MATCH (s:Segment)
WHERE s.query = stretch.query AND s.start > stretch.first - $given.size AND s.start <= stretch.last
RETURN properties(s) AS properties
