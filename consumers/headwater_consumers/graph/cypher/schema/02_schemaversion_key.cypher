// A schema of a dataset is there once
CREATE CONSTRAINT headwater_schemaversion_key IF NOT EXISTS
FOR (n:HwSchemaVersion) REQUIRE n.key IS UNIQUE
