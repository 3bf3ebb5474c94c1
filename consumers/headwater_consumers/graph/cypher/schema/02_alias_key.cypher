// An alias is there once
CREATE CONSTRAINT headwater_alias_key IF NOT EXISTS
FOR (n:HwAlias) REQUIRE n.key IS UNIQUE
