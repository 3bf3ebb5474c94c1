// The floor's constraint goes with the floor
DROP CONSTRAINT floor_conflict_key IF EXISTS
