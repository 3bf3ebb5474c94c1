// How many micro-batches are in segments
MATCH (s:Segment) RETURN coalesce(sum(s.batches), 0) AS count
