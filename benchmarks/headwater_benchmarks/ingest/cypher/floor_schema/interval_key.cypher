// An interval of the floor is there once
CREATE CONSTRAINT floor_interval_key IF NOT EXISTS
FOR (n:HwInterval) REQUIRE n.key IS UNIQUE
