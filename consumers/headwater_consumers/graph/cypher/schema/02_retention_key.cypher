// A scope's retention is there once
CREATE CONSTRAINT headwater_retention_key IF NOT EXISTS
FOR (n:HwRetention) REQUIRE n.key IS UNIQUE
