// Where batches are missing, or offsets leave a gap or overlap, in all queries
CREATE INDEX headwater_segment_broken IF NOT EXISTS
FOR (n:HwSegment) ON (n._broken)
