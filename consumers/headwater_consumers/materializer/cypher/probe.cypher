// One small committed write, to see whether the database is well. Labels that begin with _ are no part of the graph.
MERGE (probe:_Probe {key: 'materializer'})
SET probe.at = timestamp()
