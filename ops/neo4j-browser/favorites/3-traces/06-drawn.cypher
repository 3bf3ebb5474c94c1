// Which segment read an offset of a topic, drawn: its query, its runs, what it read and wrote
WITH 'flights.departed' AS topic, 0 AS partition, 700 AS offset
MATCH (dataset:HwDataset {name: topic})<-[:READS]-(query:HwQuery)<-[:IN_QUERY]-(segment:HwSegment)-[read:CONSUMED]->(dataset)
WHERE any(n IN range(0, coalesce(size(read.partitions), 0) - 1)
          WHERE read.partitions[n] = partition AND read.from[n] <= offset < read.to_exclusive[n])
MATCH work = (query)<-[:IN_QUERY]-(segment)-[:CONSUMED|PRODUCED|IN_RUN]->(:HwDataset|HwRun)
RETURN work
