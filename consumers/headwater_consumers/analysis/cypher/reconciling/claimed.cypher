// Versions of a dataset that are known to be of runs which were seen since a time
MATCH (d:HwDataset {key: $given.dataset})<-[:OF]-(v:HwVersion)<-[:WROTE]-(p)
USING INDEX d:HwDataset(key)
WHERE p.last_seen >= $given.since
RETURN DISTINCT v.version AS version
