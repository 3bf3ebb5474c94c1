// How many runs read or wrote a dataset
MATCH (d:HwDataset)<-[link:READS|WRITES]-(:HwJob)<-[:OF]-(r:HwRun)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key IN $given.of AND type(link) = $given.link AND ($given.states IS NULL OR coalesce(r.inferred_state, r.state) IN $given.states)
  AND all(w IN $given.where WHERE r[w.name] = w.value OR (w.begins AND r[w.name] STARTS WITH w.value))
  AND ($given.period IS NULL OR r.nominal_start = $given.period OR (r.nominal_start < $given.period AND r.nominal_end > $given.period))
  AND ($given.statement IS NULL OR toLower(r.statement) CONTAINS toLower($given.statement))
  AND (NOT $given.rejected OR r.rows_rejected > 0)
WITH DISTINCT r, coalesce(r.started_at, r.first_seen, r.last_seen, $given.epoch) AS began
WHERE ($given.since IS NULL OR began >= $given.since) AND ($given.until IS NULL OR began < $given.until)
WITH r
WHERE EXISTS { (r)-[own:CONSUMED|PRODUCED]->(d:HwDataset) WHERE type(own) = $given.use AND d.key IN $given.of }
  OR EXISTS {
    MATCH (r)<-[:IN_RUN]-(i:HwSegment)
    WITH i LIMIT $given.probed
    MATCH (i)-[part:CONSUMED|PRODUCED]->(d:HwDataset) WHERE type(part) = $given.use AND d.key IN $given.of
    RETURN part
  }
RETURN count(r) AS total
