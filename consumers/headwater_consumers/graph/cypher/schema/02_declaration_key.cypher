// A declaration is there once
CREATE CONSTRAINT headwater_declaration_key IF NOT EXISTS
FOR (n:HwDeclaration) REQUIRE n.key IS UNIQUE
