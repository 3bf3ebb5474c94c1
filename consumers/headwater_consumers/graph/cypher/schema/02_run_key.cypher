// A run is there once
CREATE CONSTRAINT headwater_run_key IF NOT EXISTS
FOR (n:Run) REQUIRE n.key IS UNIQUE
