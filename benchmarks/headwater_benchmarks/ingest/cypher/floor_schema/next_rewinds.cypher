// Where positions of a query go back
CREATE INDEX floor_next_rewinds IF NOT EXISTS
FOR ()-[n:NEXT]-() ON (n.rewinds)
