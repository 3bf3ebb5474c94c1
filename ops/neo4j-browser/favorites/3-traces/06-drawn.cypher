// Which segment read an offset of a topic, drawn: its query, its runs, what it read and wrote
WITH 'flights.departed' AS topic, 0 AS partition, 700 AS offset
MATCH (dataset:Dataset {name: topic})<-[:READS]-(query:Query)<-[:IN_QUERY]-(segment:Segment)-[read:CONSUMED]->(dataset)
WHERE any(n IN range(0, coalesce(size(read.partitions), 0) - 1)
          WHERE read.partitions[n] = partition AND read.from[n] <= offset < read.to_exclusive[n])
MATCH work = (query)<-[:IN_QUERY]-(segment)-[:CONSUMED|PRODUCED|IN_RUN]->(:Dataset|Run)
RETURN work
