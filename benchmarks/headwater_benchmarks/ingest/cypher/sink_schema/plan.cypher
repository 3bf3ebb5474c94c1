// A sink that merges plans needs to find them
CREATE CONSTRAINT sink_plan IF NOT EXISTS
FOR (n:HwPlan) REQUIRE (n.tenant, n.digest) IS UNIQUE
