// A PRODUCED relationship is there once
CREATE CONSTRAINT headwater_produced_key IF NOT EXISTS
FOR ()-[r:PRODUCED]-() REQUIRE r.key IS UNIQUE
