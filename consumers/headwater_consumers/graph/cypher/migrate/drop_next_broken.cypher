// What nodes of micro-batches needed: next_broken
DROP INDEX headwater_next_broken IF EXISTS
