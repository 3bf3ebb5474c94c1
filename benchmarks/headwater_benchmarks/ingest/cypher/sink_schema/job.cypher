// A sink that merges jobs needs to find them
CREATE CONSTRAINT sink_job IF NOT EXISTS
FOR (n:HwJob) REQUIRE (n.tenant, n.namespace, n.name) IS UNIQUE
