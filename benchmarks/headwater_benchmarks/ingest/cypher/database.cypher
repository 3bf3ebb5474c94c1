// empty: All nodes of a benchmark's database, gone
MATCH (n)
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF 2000 ROWS

// relationships: How many relationships there are; Neo4j keeps count
MATCH ()-[r]->()
RETURN count(r) AS relationships
