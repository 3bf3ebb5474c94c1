// Probes: the first intervals at or after a batch, with what it wrote of a dataset
UNWIND $given.probes AS probe
CALL (probe) {
  MATCH (i:Interval)
  WHERE i.query = probe.query AND i.batch_id >= probe.at
  RETURN i ORDER BY i.query, i.batch_id LIMIT $given.window
}
RETURN probe.n AS n, probe.at AS at, i.batch_id AS batch,
  [(i)-[r:PRODUCED]->(d:Dataset) WHERE d.key = probe.dataset AND r.position IS NOT NULL |
    [r.position, r.topic_id, r.partitions, r.from, r.to_exclusive, r.format, r.from_version, r.to_version]] AS uses
