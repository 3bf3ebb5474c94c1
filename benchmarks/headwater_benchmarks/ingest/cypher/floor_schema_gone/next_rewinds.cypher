// The floor's index goes with the floor
DROP INDEX floor_next_rewinds IF EXISTS
