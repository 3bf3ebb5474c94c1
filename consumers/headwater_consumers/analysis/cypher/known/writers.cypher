// Jobs that write datasets, each by any of its names, the one seen last first
UNWIND $given.datasets AS each
CALL (each) {
  OPTIONAL MATCH (d:HwDataset)<-[r:WRITES]-(j:HwJob)
  USING INDEX SEEK d:HwDataset(key)
  WHERE d.key IN each.keys
  WITH j, any(o IN collect(r.observed) WHERE o) AS observed, any(o IN collect(r.declared) WHERE o) AS declared,
    min(r.first_seen) AS first_seen, max(r.last_seen) AS last_seen
  ORDER BY last_seen IS NULL, last_seen DESC, j.key
  RETURN collect(CASE WHEN j IS NOT NULL THEN {job: j {.key, .namespace, .name, .processing_type, .owners, .owner_types},
    link: {observed: observed, declared: declared, first_seen: first_seen, last_seen: last_seen}} END) AS jobs
}
RETURN each.key AS key, jobs[..$given.most] AS jobs, size(jobs) AS total
