// A sink that merges runs needs to find them
CREATE CONSTRAINT sink_run IF NOT EXISTS
FOR (n:HwRun) REQUIRE (n.tenant, n.run_id) IS UNIQUE
