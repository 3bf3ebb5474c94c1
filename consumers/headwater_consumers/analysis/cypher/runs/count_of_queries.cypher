// How many micro-batches of queries are known
MATCH (q:HwQuery) WHERE q.key IN $given.queries
RETURN sum(reduce(total = 0, batches IN [(q)<-[:IN_QUERY]-(s:HwSegment) | s.batches] | total + batches)) AS total
