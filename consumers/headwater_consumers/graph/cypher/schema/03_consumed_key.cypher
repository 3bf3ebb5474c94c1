// A CONSUMED relationship is there once
CREATE CONSTRAINT headwater_consumed_key IF NOT EXISTS
FOR ()-[r:CONSUMED]-() REQUIRE r.key IS UNIQUE
