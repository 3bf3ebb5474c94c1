// Segments that read any of some offsets of datasets, as a whole
UNWIND $wants AS want
MATCH (:HwDataset {key: want.dataset})<-[c:CONSUMED]-(s:HwSegment)
WHERE any(part IN want.parts WHERE c.from[part[0]] < part[2] AND part[1] < c.to_exclusive[part[0]])
RETURN want.dataset AS dataset, want.parts AS parts, properties(s) AS segment
