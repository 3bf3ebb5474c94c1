// The latest run of each job that wrote a dataset, among the job's latest runs with a plan, and what it published
UNWIND $given.datasets AS key
MATCH (d:Dataset)<-[:WRITES]-(j:Job)
USING INDEX SEEK d:Dataset(key)
WHERE d.key = key
CALL (d, j) {
  MATCH (r:Run)-[u:USED]->(:Plan)
  WHERE u._job = j.key AND u.first_seen <= $given.until
  WITH r, u ORDER BY u._job DESC, u.first_seen DESC LIMIT $given.looked_at
  WITH r, u WHERE EXISTS { (r)-[:PRODUCED]->(d) }
  RETURN r.publication AS publication, u.first_seen AS at, r.key AS run ORDER BY u.first_seen DESC, r.key LIMIT 1
}
RETURN collect([key, at.epochMillis * 1000 + at.microsecond % 1000, run, publication]) AS written
