// A INFLUENCES relationship is there once
CREATE CONSTRAINT headwater_influences_key IF NOT EXISTS
FOR ()-[r:INFLUENCES]-() REQUIRE r.key IS UNIQUE
