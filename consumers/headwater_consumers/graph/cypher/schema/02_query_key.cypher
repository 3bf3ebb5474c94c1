// A query is there once
CREATE CONSTRAINT headwater_query_key IF NOT EXISTS
FOR (n:Query) REQUIRE n.key IS UNIQUE
