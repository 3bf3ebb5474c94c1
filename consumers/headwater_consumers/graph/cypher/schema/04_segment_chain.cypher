// Segments of a query in batch order: neighbours, and a search by batch id
CREATE INDEX headwater_segment_chain IF NOT EXISTS
FOR (n:HwSegment) ON (n.query, n.start)
