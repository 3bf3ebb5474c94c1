// All nodes of a benchmark's database, gone
MATCH (n)
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF 2000 ROWS
