// What nodes of micro-batches needed: conflict_key
DROP CONSTRAINT headwater_conflict_key IF EXISTS
