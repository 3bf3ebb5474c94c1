// What nodes of micro-batches needed: next_rewinds
DROP INDEX headwater_next_rewinds IF EXISTS
