// Which micro-batches read offset 0 of flights.departed, and what they wrote
MATCH (batch:Interval)-[read:CONSUMED]->(:Dataset {name: 'flights.departed'}),
      (batch)-[:IN_QUERY]->(query:Query),
      (batch)-[:PRODUCED]->(written:Dataset)
UNWIND range(0, size(read.partitions) - 1) AS i
WITH * WHERE read.from[i] = 0 AND read.to_exclusive[i] > 0
RETURN query.query_name AS query, batch.batch_id AS batch,
       read.partitions[i] AS partition, read.from[i] AS `from`,
       read.to_exclusive[i] AS to_exclusive, written.name AS wrote
ORDER BY partition
