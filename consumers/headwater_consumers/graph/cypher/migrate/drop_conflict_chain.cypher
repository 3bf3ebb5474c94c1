// What nodes of micro-batches needed: conflict_chain
DROP INDEX headwater_conflict_chain IF EXISTS
