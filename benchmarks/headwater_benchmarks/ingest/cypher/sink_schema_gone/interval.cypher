// The sink's constraint goes with the sink
DROP CONSTRAINT sink_interval IF EXISTS
