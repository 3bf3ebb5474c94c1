// A sink that merges intervals needs to find them
CREATE CONSTRAINT sink_interval IF NOT EXISTS
FOR (n:Interval) REQUIRE (n.tenant, n.query_id, n.batch_id) IS UNIQUE
