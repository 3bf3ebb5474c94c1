// A segment is there once
CREATE CONSTRAINT headwater_segment_key IF NOT EXISTS
FOR (n:HwSegment) REQUIRE n.key IS UNIQUE
