// A run is there once
CREATE CONSTRAINT headwater_run_key IF NOT EXISTS
FOR (n:HwRun) REQUIRE n.key IS UNIQUE
