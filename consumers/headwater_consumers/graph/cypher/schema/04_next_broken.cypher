// Where batches are missing, or offsets leave a gap or overlap, in all queries
CREATE INDEX headwater_next_broken IF NOT EXISTS
FOR ()-[n:NEXT]-() ON (n._broken)
