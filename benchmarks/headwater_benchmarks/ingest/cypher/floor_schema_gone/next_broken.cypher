// The floor's index goes with the floor
DROP INDEX floor_next_broken IF EXISTS
