// column: The sink's constraint goes with the sink
DROP CONSTRAINT sink_column IF EXISTS

// dataset: The sink's constraint goes with the sink
DROP CONSTRAINT sink_dataset IF EXISTS

// interval: The sink's constraint goes with the sink
DROP CONSTRAINT sink_interval IF EXISTS

// job: The sink's constraint goes with the sink
DROP CONSTRAINT sink_job IF EXISTS

// plan: The sink's constraint goes with the sink
DROP CONSTRAINT sink_plan IF EXISTS

// query: The sink's constraint goes with the sink
DROP CONSTRAINT sink_query IF EXISTS

// run: The sink's constraint goes with the sink
DROP CONSTRAINT sink_run IF EXISTS
