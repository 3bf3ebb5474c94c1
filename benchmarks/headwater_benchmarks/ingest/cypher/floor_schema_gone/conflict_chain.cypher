// The floor's index goes with the floor
DROP INDEX floor_conflict_chain IF EXISTS
