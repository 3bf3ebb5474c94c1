// Where batches are missing, or offsets leave a gap or overlap
CREATE INDEX floor_next_broken IF NOT EXISTS
FOR ()-[n:NEXT]-() ON (n._broken)
