// Probes: the first interval at or after a batch that has a time, or else the last of those read
UNWIND $given.probes AS probe
CALL (probe) {
  MATCH (i:Interval)
  WHERE i.query = probe.query AND i.batch_id >= probe.at
  WITH i ORDER BY i.query, i.batch_id LIMIT $given.window
  WITH collect(i) AS seen
  WITH coalesce(head([i IN seen WHERE i[probe.by] IS NOT NULL]), last(seen)) AS i WHERE i IS NOT NULL
  RETURN i
}
RETURN probe.n AS n, probe.at AS at, i.batch_id AS batch, i[probe.by] AS time
