// What nodes of micro-batches needed: interval_chain
DROP INDEX headwater_interval_chain IF EXISTS
