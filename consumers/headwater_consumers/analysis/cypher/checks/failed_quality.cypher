// Datasets that others read, of whose last micro-batch with assertions one failed
CALL () {
  MATCH (q:Query)
  USING INDEX SEEK q:Query(key)
  WHERE q.key > '' AND q.tenant = $given.tenant AND q.last_batch IS NOT NULL
  MATCH (s:Segment)
  USING INDEX SEEK s:Segment(query, start)
  WHERE s.query = q.key AND s.start = q.last_batch / $given.segment * $given.segment
    AND last(s.failed) > coalesce(s.last_passed, -1)
  MATCH (s)-[:PRODUCED]->(d:Dataset)
  WHERE EXISTS { (d)<-[:READS]-(o:Job) WHERE NOT (o)<-[:OF]-(q) } OR EXISTS { (d)<-[:CONSUMES]-() }
  WITH DISTINCT q, s, d
  WITH q, s, d, d.key + ' ' + q.key AS id, d.key AS subject
  RETURN count(*) AS total, count(CASE WHEN subject IN $given.exempt THEN 1 END) AS exempted
}
RETURN total, exempted, COLLECT {
  MATCH (q:Query)
  USING INDEX SEEK q:Query(key)
  WHERE q.key > '' AND q.tenant = $given.tenant AND q.last_batch IS NOT NULL
  MATCH (s:Segment)
  USING INDEX SEEK s:Segment(query, start)
  WHERE s.query = q.key AND s.start = q.last_batch / $given.segment * $given.segment
    AND last(s.failed) > coalesce(s.last_passed, -1)
  MATCH (s)-[:PRODUCED]->(d:Dataset)
  WHERE EXISTS { (d)<-[:READS]-(o:Job) WHERE NOT (o)<-[:OF]-(q) } OR EXISTS { (d)<-[:CONSUMES]-() }
  WITH DISTINCT q, s, d
  WITH q, s, d, d.key + ' ' + q.key AS id, d.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  RETURN {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}, batch: last(s.failed), query_id: q.query_id, query_name: q.query_name,
    readers: COUNT { (d)<-[:READS]-(o:Job) WHERE NOT (o)<-[:OF]-(q) } + COUNT { (d)<-[:CONSUMES]-() }} AS row
  ORDER BY row.id
} AS found
