// The last micro-batch with assertions of each streaming query that writes a dataset, among its latest segments
UNWIND $given.datasets AS key
MATCH (d:HwDataset)<-[:WRITES]-(q:HwQuery)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key = key AND q.last_batch IS NOT NULL
CALL (q) {
  MATCH (s:HwSegment)
  USING INDEX SEEK s:HwSegment(query, start)
  WHERE s.query = q.key AND s.start > q.last_batch - $given.back AND coalesce(s.last_passed, last(s.failed)) IS NOT NULL
  WITH s ORDER BY s.query DESC, s.start DESC LIMIT 1
  WITH coalesce(last(s.failed), -1) AS failed, coalesce(s.last_passed, -1) AS passed
  RETURN CASE WHEN failed > passed THEN failed ELSE passed END AS batch
}
WITH d, q, batch WHERE batch >= 0
RETURN d.key AS dataset, d.namespace AS namespace, d.name AS name, q.key AS query, q.query_id AS query_id, batch,
  head([(q)-[:OF]->(j:HwJob) | j {.key, .namespace, .name, .processing_type}]) AS job
