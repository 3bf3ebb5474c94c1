// A column is there once
CREATE CONSTRAINT headwater_column_key IF NOT EXISTS
FOR (n:HwColumn) REQUIRE n.key IS UNIQUE
