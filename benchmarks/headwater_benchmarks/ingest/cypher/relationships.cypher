// How many relationships there are; Neo4j keeps count
MATCH ()-[r]->()
RETURN count(r) AS relationships
