// How many micro-batches of a run are in summaries
MATCH (r:HwRun {key: $given.run})
RETURN reduce(total = 0, batches IN [(r)<-[:IN_RUN]-(s:HwSummary) | s.batches] | total + batches) AS total
