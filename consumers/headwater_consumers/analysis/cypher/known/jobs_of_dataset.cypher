// Jobs that write or read a dataset by any of its names, the one seen last first
MATCH (d:HwDataset)<-[r:READS|WRITES]-(j:HwJob)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key IN $given.keys AND type(r) = $given.link
WITH j, any(each IN collect(r.observed) WHERE each) AS observed, any(each IN collect(r.declared) WHERE each) AS declared,
  min(r.first_seen) AS first_seen, max(r.last_seen) AS last_seen
RETURN j {.key, .namespace, .name, .processing_type, .owners, .owner_types} AS job,
  {observed: observed, declared: declared, first_seen: first_seen, last_seen: last_seen} AS link
ORDER BY last_seen IS NULL, last_seen DESC, j.key LIMIT $given.most
