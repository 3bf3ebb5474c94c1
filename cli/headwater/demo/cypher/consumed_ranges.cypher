// Offsets of a topic that a query's intervals consumed, in parallel lists
MATCH (:Query {query_name: $query})<-[:IN_QUERY]-(interval:Interval)-[used:CONSUMED {position: 'kafka', topic: $topic}]->(:Dataset)
WHERE used.certainty = 'EXACT' OR used.certainty = 'INFERRED'
RETURN used.partitions AS partitions, used.from AS starts, used.to_exclusive AS ends
ORDER BY interval.batch_id
