// The first batches after the places where positions of some queries don't go on upwards
UNWIND $queries AS query
MATCH ()-[n:NEXT]->(i:Interval)
WHERE n.rewinds = query
RETURN query, i.batch_id AS batch ORDER BY query, batch
