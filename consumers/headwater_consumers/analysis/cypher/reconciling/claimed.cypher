// Versions of a dataset that are known to be of runs which were seen since a time
MATCH (d:Dataset {key: $given.dataset})<-[:OF]-(v:Version)<-[:WROTE]-(p)
USING INDEX d:Dataset(key)
WHERE p.last_seen >= $given.since
RETURN DISTINCT v.version AS version
