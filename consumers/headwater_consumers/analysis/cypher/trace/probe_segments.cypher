// Probes: the first segment at or after a batch, with the ranges of what it read or wrote of a dataset
UNWIND $given.probes AS probe
CALL (probe) {
  MATCH (s:HwSegment)
  WHERE s.query = probe.query AND s.start >= probe.start
  RETURN s ORDER BY s.query, s.start LIMIT 1
}
RETURN probe.n AS n, probe.start AS at, s.start AS start, s.first_batch AS first, s.last_batch AS last,
  s.contested IS NOT NULL AS contested,
  [(s)-[r:CONSUMED|PRODUCED]->(d:HwDataset) WHERE d.key = probe.dataset AND type(r) = probe.type AND r.partitions IS NOT NULL |
    r {.partitions, .from, .to_exclusive}] AS uses
