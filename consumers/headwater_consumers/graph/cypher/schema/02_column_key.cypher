// A column is there once
CREATE CONSTRAINT headwater_column_key IF NOT EXISTS
FOR (n:Column) REQUIRE n.key IS UNIQUE
