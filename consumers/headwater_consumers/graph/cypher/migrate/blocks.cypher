// Closed blocks of segments, made again
UNWIND $rows AS row
MATCH (s:Segment {key: row.key})
SET s += row.blocks
