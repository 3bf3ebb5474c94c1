// A DERIVES relationship is there once
CREATE CONSTRAINT headwater_derives_key IF NOT EXISTS
FOR ()-[r:DERIVES]-() REQUIRE r.key IS UNIQUE
