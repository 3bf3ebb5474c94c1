// Streaming queries that read datasets with several names: which of these, where its runs begin, and where the graph has faults
UNWIND $given.datasets AS key
MATCH (:HwDataset {key: key})<-[:READS]-(q:HwQuery)
WITH q, collect(key) AS datasets
WHERE size(datasets) > 1
RETURN q.key AS query, datasets, COLLECT { MATCH (q)<-[:IN_QUERY]-(r:HwRun) WHERE r.first_batch > 0 RETURN r.first_batch } AS begins,
  COLLECT { MATCH (q)<-[:IN_QUERY]-(s:HwSegment) WHERE s.broken IS NOT NULL RETURN s.broken } AS broken
ORDER BY query
