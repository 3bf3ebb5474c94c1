// An interval of the floor is there once
CREATE CONSTRAINT floor_interval_key IF NOT EXISTS
FOR (n:Interval) REQUIRE n.key IS UNIQUE
