// How many micro-batches were observed in a run
MATCH (r:HwRun {key: $given.run})
RETURN reduce(total = 0, batches IN [(r)<-[in:IN_RUN]-(:HwSegment) | in.batches] | total + batches) AS total
