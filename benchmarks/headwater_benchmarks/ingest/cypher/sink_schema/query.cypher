// A sink that merges queries needs to find them
CREATE CONSTRAINT sink_query IF NOT EXISTS
FOR (n:HwQuery) REQUIRE (n.tenant, n.query_id) IS UNIQUE
