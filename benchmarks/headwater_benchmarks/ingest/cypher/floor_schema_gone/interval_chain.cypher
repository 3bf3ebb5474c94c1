// The floor's index goes with the floor
DROP INDEX floor_interval_chain IF EXISTS
