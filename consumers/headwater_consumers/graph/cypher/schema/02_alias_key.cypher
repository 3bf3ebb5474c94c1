// An alias is there once
CREATE CONSTRAINT headwater_alias_key IF NOT EXISTS
FOR (n:Alias) REQUIRE n.key IS UNIQUE
