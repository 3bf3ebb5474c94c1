// A query is there once
CREATE CONSTRAINT headwater_query_key IF NOT EXISTS
FOR (n:HwQuery) REQUIRE n.key IS UNIQUE
