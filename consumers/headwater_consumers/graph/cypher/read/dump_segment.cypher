// The next segment by query and batch id, with what leaves it
MATCH (n:HwSegment)
WHERE n.query > $query OR (n.query = $query AND n.start > $start)
WITH n ORDER BY n.query, n.start LIMIT 1
RETURN properties(n) AS properties,
  [(n)-[:IN_QUERY]->(q:HwQuery) | q.key] AS queries,
  [(n)-[r:IN_RUN]->(x:HwRun) | [x.key, r.batches]] AS runs,
  [(n)-[r:CONSUMED|PRODUCED]->(d:HwDataset) | [type(r), d.key, properties(r)]] AS uses,
  [(n)-[r:READ|WROTE]->(v:HwVersion) | [type(r), v.key, r.batches, r.first_time]] AS versions,
  [(n)-[:NEXT]->(m:HwSegment) | m.start] AS next
