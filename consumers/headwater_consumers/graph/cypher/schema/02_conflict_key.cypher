// A conflict is there once
CREATE CONSTRAINT headwater_conflict_key IF NOT EXISTS
FOR (n:Conflict) REQUIRE n.key IS UNIQUE
