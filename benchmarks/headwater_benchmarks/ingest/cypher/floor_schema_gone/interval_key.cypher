// The floor's constraint goes with the floor
DROP CONSTRAINT floor_interval_key IF EXISTS
