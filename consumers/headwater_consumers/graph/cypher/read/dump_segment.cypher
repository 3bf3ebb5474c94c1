// The next segment by query and batch id, with what leaves it
MATCH (n:Segment)
WHERE n.query > $query OR (n.query = $query AND n.start > $start)
WITH n ORDER BY n.query, n.start LIMIT 1
RETURN properties(n) AS properties,
  [(n)-[:IN_QUERY]->(q:Query) | q.key] AS queries,
  [(n)-[r:IN_RUN]->(x:Run) | [x.key, r.batches]] AS runs,
  [(n)-[r:CONSUMED|PRODUCED]->(d:Dataset) | [type(r), d.key, properties(r)]] AS uses,
  [(n)-[r:READ|WROTE]->(v:Version) | [type(r), v.key, r.batches, r.first_time]] AS versions,
  [(n)-[:NEXT]->(m:Segment) | m.start] AS next
