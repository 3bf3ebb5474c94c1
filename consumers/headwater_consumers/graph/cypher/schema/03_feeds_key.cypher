// A FEEDS relationship is there once
CREATE CONSTRAINT headwater_feeds_key IF NOT EXISTS
FOR ()-[r:FEEDS]-() REQUIRE r.key IS UNIQUE
