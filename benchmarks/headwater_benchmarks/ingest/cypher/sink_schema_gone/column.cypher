// The sink's constraint goes with the sink
DROP CONSTRAINT sink_column IF EXISTS
