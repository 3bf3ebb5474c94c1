// What nodes of micro-batches needed: interval_key
DROP CONSTRAINT headwater_interval_key IF EXISTS
