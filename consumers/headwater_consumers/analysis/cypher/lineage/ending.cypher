// Jobs that read datasets and write nothing that is known to be made of them
UNWIND $given.datasets AS key
MATCH (d:HwDataset {key: key})
WITH d, COLLECT { MATCH (d)-[f:FEEDS]->() RETURN DISTINCT f.job } AS feeding
MATCH (d)<-[r:READS]-(j:HwJob)
WHERE NOT j.key IN feeding AND NOT EXISTS { (d)-[:GOES_INTO]->(j) }
  AND ($given.jobs IS NULL OR j.key IN $given.jobs)
  AND ($given.as_of IS NULL OR r.first_seen <= $given.as_of)
  AND ($given.since IS NULL OR r.last_seen >= $given.since OR (r.declared AND $given.as_of IS NULL))
WITH DISTINCT j ORDER BY j.namespace, j.name LIMIT $given.limit
RETURN collect(j {.key, .namespace, .name, .processing_type}) AS jobs
