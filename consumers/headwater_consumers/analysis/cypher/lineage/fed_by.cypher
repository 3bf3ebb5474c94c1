// Datasets that feed one, and the jobs that make it of them
MATCH (d:HwDataset) WHERE d.key IN $given.datasets
WITH collect(d) AS fed
UNWIND fed AS d
MATCH (d)<-[f:FEEDS]-()<-[:GOES_INTO*0..1]-(other:HwDataset)
WHERE NOT other.key IN $given.datasets
  AND ($given.jobs IS NULL OR f.job IN $given.jobs)
  AND ($given.as_of IS NULL OR f.first_seen <= $given.as_of)
  AND ($given.since IS NULL OR f.last_seen >= $given.since OR (f.declared AND $given.as_of IS NULL))
WITH other, d, f ORDER BY f.last_seen DESC, f.key LIMIT $given.limit
RETURN collect([other.key, other.title, f.job, f.job_name, d.key]) AS feeds
