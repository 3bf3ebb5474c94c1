// Where positions of a query don't go on upwards, so that a search by batch id must not look across
CREATE INDEX headwater_segment_rewinds IF NOT EXISTS
FOR (n:HwSegment) ON (n._rewinds)
