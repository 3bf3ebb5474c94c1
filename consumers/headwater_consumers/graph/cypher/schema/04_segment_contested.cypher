// Where several reports of a micro-batch disagree, in batch order: a trace asks for them of each query
CREATE INDEX headwater_segment_contested IF NOT EXISTS
FOR (n:HwSegment) ON (n._contested, n.start)
