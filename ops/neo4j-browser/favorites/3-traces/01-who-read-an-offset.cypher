// Which micro-batch read an offset of a topic
WITH 'flights.departed' AS topic, 0 AS partition, 700 AS offset
MATCH (dataset:Dataset {name: topic})<-[:READS]-(query:Query)<-[:IN_QUERY]-(batch:Interval)-[read:CONSUMED]->(dataset)
WHERE any(n IN range(0, size(read.partitions) - 1)
          WHERE read.partitions[n] = partition AND read.from[n] <= offset < read.to_exclusive[n])
MATCH work = (query)<-[:IN_QUERY]-(batch)-[:CONSUMED|PRODUCED|IN_RUN|WROTE]->(:Dataset|Run|Version)
RETURN work
