// Micro-batches that read or wrote versions
UNWIND $given.versions AS version
MATCH (:HwVersion {key: version})<-[r:READ|WROTE]-(s:HwSegment)
RETURN s.query AS query, r.batches AS batches LIMIT $given.limit
