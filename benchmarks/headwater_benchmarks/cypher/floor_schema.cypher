// conflict_chain: Conflicts of a query in batch order
CREATE INDEX floor_conflict_chain IF NOT EXISTS
FOR (n:HwConflict) ON (n.query, n.batch_id)

// conflict_key: A conflict of the floor is there once
CREATE CONSTRAINT floor_conflict_key IF NOT EXISTS
FOR (n:HwConflict) REQUIRE n.key IS UNIQUE

// interval_chain: Intervals of a query in batch order
CREATE INDEX floor_interval_chain IF NOT EXISTS
FOR (n:HwInterval) ON (n.query, n.batch_id)

// interval_key: An interval of the floor is there once
CREATE CONSTRAINT floor_interval_key IF NOT EXISTS
FOR (n:HwInterval) REQUIRE n.key IS UNIQUE

// next_broken: Where batches are missing, or offsets leave a gap or overlap
CREATE INDEX floor_next_broken IF NOT EXISTS
FOR ()-[n:NEXT]-() ON (n._broken)

// next_rewinds: Where positions of a query go back
CREATE INDEX floor_next_rewinds IF NOT EXISTS
FOR ()-[n:NEXT]-() ON (n.rewinds)
