// counts: How many nodes and relationships there are; Neo4j keeps count
CALL () { MATCH (n) RETURN count(n) AS nodes }
CALL () { MATCH ()-[r]->() RETURN count(r) AS relationships }
RETURN nodes, relationships

// empty: All nodes of a benchmark's database, gone
MATCH (n)
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF 2000 ROWS
