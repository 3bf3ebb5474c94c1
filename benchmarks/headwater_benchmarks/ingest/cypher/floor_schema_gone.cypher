// conflict_chain: The floor's index goes with the floor
DROP INDEX floor_conflict_chain IF EXISTS

// conflict_key: The floor's constraint goes with the floor
DROP CONSTRAINT floor_conflict_key IF EXISTS

// interval_chain: The floor's index goes with the floor
DROP INDEX floor_interval_chain IF EXISTS

// interval_key: The floor's constraint goes with the floor
DROP CONSTRAINT floor_interval_key IF EXISTS

// next_broken: The floor's index goes with the floor
DROP INDEX floor_next_broken IF EXISTS

// next_rewinds: The floor's index goes with the floor
DROP INDEX floor_next_rewinds IF EXISTS
