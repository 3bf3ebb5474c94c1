// How many micro-batches were observed in a run: all reports, less those that are conflicts
MATCH (r:Run {key: $given.run})
CALL (r) { MATCH (r)-[:IN_QUERY]->(q:Query) MATCH (c:Conflict) WHERE c.query = q.key AND c.run_id = r.run_id RETURN count(c) AS conflicts }
RETURN COUNT { (r)<-[:IN_RUN]-() } - conflicts AS total
