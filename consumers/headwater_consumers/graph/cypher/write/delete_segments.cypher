// Segments, gone
UNWIND $batch.rows AS key
MATCH (n:HwSegment {key: key})
DETACH DELETE n
