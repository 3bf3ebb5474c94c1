// Which micro-batch read the first flight of each partition of flights.departed, and what it wrote
MATCH (batch:Interval)-[read:CONSUMED]->(:Dataset {name: 'flights.departed'})
MATCH (batch)-[:IN_QUERY]->(query:Query), (batch)-[:PRODUCED]->(written:Dataset)
WHERE any(i IN range(0, size(read.partitions) - 1) WHERE read.from[i] = 0 AND read.to_exclusive[i] > 0)
RETURN query.query_name AS query, batch.batch_id AS batch, read.partitions AS partitions, read.from AS `from`,
       read.to_exclusive AS to_exclusive, batch.rows_in AS rows, written.name AS wrote
ORDER BY batch
