// Micro-batches that only baselines write, gone
MATCH (n:Interval|Conflict)
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF 2000 ROWS
