// probe: One small committed write, to see whether the database is well. It is no part of the graph.
MERGE (probe:HwProbe {key: 'materializer'})
SET probe.at = timestamp()

// progress: How far the consumers are in the events topic; without rows, whether the database answers
UNWIND $rows AS row
MERGE (p:HwProgress {key: row.key})
SET p += row.properties, p.at = datetime()
