// A sink that merges datasets needs to find them
CREATE CONSTRAINT sink_dataset IF NOT EXISTS
FOR (n:HwDataset) REQUIRE (n.tenant, n.namespace, n.name) IS UNIQUE
