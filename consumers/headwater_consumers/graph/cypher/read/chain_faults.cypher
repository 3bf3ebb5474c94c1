// Neighbouring micro-batches whose offsets leave a gap or overlap, by query
MATCH (s:HwSegment)
WHERE s._broken IS NOT NULL
RETURN s._broken AS key,
  sum(reduce(total = 0, gaps IN s.gaps | total + gaps)) AS gaps,
  sum(reduce(total = 0, overlaps IN s.overlaps | total + overlaps)) AS overlaps
