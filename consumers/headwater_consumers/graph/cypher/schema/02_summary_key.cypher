// A summary is there once
CREATE CONSTRAINT headwater_summary_key IF NOT EXISTS
FOR (n:HwSummary) REQUIRE n.key IS UNIQUE
