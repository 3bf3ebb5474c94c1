// When these hops between datasets were seen
UNWIND $given.edges AS edge
MATCH ()-[f:FEEDS]->() WHERE id(f) = edge
RETURN edge, f.first_seen AS first, f.last_seen AS last
