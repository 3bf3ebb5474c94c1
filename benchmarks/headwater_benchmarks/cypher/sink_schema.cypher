// column: A sink that merges columns needs to find them
CREATE CONSTRAINT sink_column IF NOT EXISTS
FOR (n:HwColumn) REQUIRE (n.tenant, n.dataset, n.name) IS UNIQUE

// dataset: A sink that merges datasets needs to find them
CREATE CONSTRAINT sink_dataset IF NOT EXISTS
FOR (n:HwDataset) REQUIRE (n.tenant, n.namespace, n.name) IS UNIQUE

// interval: A sink that merges intervals needs to find them
CREATE CONSTRAINT sink_interval IF NOT EXISTS
FOR (n:Interval) REQUIRE (n.tenant, n.query_id, n.batch_id) IS UNIQUE

// job: A sink that merges jobs needs to find them
CREATE CONSTRAINT sink_job IF NOT EXISTS
FOR (n:HwJob) REQUIRE (n.tenant, n.namespace, n.name) IS UNIQUE

// plan: A sink that merges plans needs to find them
CREATE CONSTRAINT sink_plan IF NOT EXISTS
FOR (n:HwPlan) REQUIRE (n.tenant, n.digest) IS UNIQUE

// query: A sink that merges queries needs to find them
CREATE CONSTRAINT sink_query IF NOT EXISTS
FOR (n:HwQuery) REQUIRE (n.tenant, n.query_id) IS UNIQUE

// run: A sink that merges runs needs to find them
CREATE CONSTRAINT sink_run IF NOT EXISTS
FOR (n:HwRun) REQUIRE (n.tenant, n.run_id) IS UNIQUE
