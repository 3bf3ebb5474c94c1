// How many micro-batches were observed in a run
MATCH (r:Run {key: $given.run})
RETURN reduce(total = 0, batches IN [(r)<-[in:IN_RUN]-(:Segment) | in.batches] | total + batches) AS total
