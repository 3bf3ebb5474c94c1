// How many micro-batches of a run are in summaries
MATCH (r:Run {key: $given.run})
RETURN reduce(total = 0, batches IN [(r)<-[:IN_RUN]-(s:Summary) | s.batches] | total + batches) AS total
