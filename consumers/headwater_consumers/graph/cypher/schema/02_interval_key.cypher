// A interval is there once
CREATE CONSTRAINT headwater_interval_key IF NOT EXISTS
FOR (n:Interval) REQUIRE n.key IS UNIQUE
