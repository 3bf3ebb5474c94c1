// A sink that merges columns needs to find them
CREATE CONSTRAINT sink_column IF NOT EXISTS
FOR (n:HwColumn) REQUIRE (n.tenant, n.dataset, n.name) IS UNIQUE
