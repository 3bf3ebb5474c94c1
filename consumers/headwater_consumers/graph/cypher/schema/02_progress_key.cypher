// The progress in a partition is there once
CREATE CONSTRAINT headwater_progress_key IF NOT EXISTS
FOR (n:HwProgress) REQUIRE n.key IS UNIQUE
