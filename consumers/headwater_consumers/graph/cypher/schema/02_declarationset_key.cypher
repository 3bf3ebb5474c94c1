// A declaration set is there once
CREATE CONSTRAINT headwater_declarationset_key IF NOT EXISTS
FOR (n:HwDeclarationSet) REQUIRE n.key IS UNIQUE
