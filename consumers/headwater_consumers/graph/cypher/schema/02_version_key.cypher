// A version is there once
CREATE CONSTRAINT headwater_version_key IF NOT EXISTS
FOR (n:HwVersion) REQUIRE n.key IS UNIQUE
