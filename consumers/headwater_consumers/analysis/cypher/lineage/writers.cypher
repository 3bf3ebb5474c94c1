// Jobs that write a dataset, those seen last first
MATCH (d:HwDataset)<-[w:WRITES]-(j:HwJob)
WHERE d.key IN $given.datasets
  AND ($given.jobs IS NULL OR j.key IN $given.jobs)
  AND ($given.as_of IS NULL OR w.first_seen <= $given.as_of)
  AND ($given.since IS NULL OR w.last_seen >= $given.since OR (w.declared AND $given.as_of IS NULL))
WITH d, j, w ORDER BY w.last_seen DESC, j.key LIMIT $given.limit
RETURN collect([j.key, j.name, d.key]) AS jobs
