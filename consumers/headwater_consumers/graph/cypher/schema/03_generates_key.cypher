// A GENERATES relationship is there once
CREATE CONSTRAINT headwater_generates_key IF NOT EXISTS
FOR ()-[r:GENERATES]-() REQUIRE r.key IS UNIQUE
