// How many micro-batches of queries are known: all that is in them, less their runs
MATCH (q:Query) WHERE q.key IN $given.queries
CALL (q) { MATCH (q)-[:OF]->(:Job)<-[:OF]-(r:Run) WHERE EXISTS { (r)-[:IN_QUERY]->(q) } RETURN count(DISTINCT r) AS runs }
RETURN sum(COUNT { (q)<-[:IN_QUERY]-() } - runs) AS total
