// Segments, gone
UNWIND $batch.rows AS key
MATCH (n:Segment {key: key})
DETACH DELETE n
