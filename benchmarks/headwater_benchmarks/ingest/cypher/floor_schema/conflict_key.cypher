// A conflict of the floor is there once
CREATE CONSTRAINT floor_conflict_key IF NOT EXISTS
FOR (n:HwConflict) REQUIRE n.key IS UNIQUE
