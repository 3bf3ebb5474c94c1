// The first batches after the places where positions of some queries don't go on upwards
MATCH ()-[n:NEXT]->(i:Interval)
USING INDEX SEEK n:NEXT(rewinds)
WHERE n.rewinds IN $given.queries
RETURN n.rewinds AS query, i.batch_id AS batch
