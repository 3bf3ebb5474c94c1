// A declaration is there once
CREATE CONSTRAINT headwater_declaration_key IF NOT EXISTS
FOR (n:Declaration) REQUIRE n.key IS UNIQUE
