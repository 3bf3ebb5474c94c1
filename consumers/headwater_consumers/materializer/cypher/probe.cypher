// One small committed write, to see whether the database is well. It is no part of the graph.
MERGE (probe:HwProbe {key: 'materializer'})
SET probe.at = timestamp()
