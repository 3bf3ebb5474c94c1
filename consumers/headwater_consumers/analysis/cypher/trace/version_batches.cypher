// Micro-batches that read or wrote versions
UNWIND $given.versions AS version
MATCH (:Version {key: version})<-[r:READ|WROTE]-(s:Segment)
RETURN s.query AS query, r.batches AS batches LIMIT $given.limit
