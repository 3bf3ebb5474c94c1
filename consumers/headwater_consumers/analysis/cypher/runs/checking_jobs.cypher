// Jobs that have runs with assertions, of those that read or write a dataset
MATCH (d:HwDataset)<-[:READS|WRITES]-(j:HwJob)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key IN $given.of
WITH DISTINCT j
WHERE COUNT {
  MATCH (r:HwRun)
  USING INDEX SEEK r:HwRun(_checked, last_seen)
  WHERE r._checked = j.key AND r.last_seen <= $given.until
  RETURN r LIMIT 1
} > 0
RETURN j.key AS key ORDER BY key
