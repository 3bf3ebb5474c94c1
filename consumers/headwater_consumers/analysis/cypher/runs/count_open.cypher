// How many runs have no end
MATCH (r:HwRun)
USING INDEX r:HwRun(open, last_seen)
WHERE r.open = true AND r.last_seen < $given.before AND r.tenant = $given.tenant
  AND ($given.of IS NULL OR EXISTS { (r)-[:OF]->(:HwJob {key: $given.of}) })
CALL (r) {
  OPTIONAL MATCH (r)<-[:CHILD_OF]-(c:HwRun)
  RETURN max(c.last_seen) AS below
}
WITH r, CASE WHEN below > r.last_seen THEN below ELSE r.last_seen END AS seen
WHERE seen < $given.before
RETURN count(*) AS total
