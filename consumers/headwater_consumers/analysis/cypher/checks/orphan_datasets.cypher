// Datasets that are there, and that no job and no consumer uses under any of their names
CALL () {
  MATCH (d:Dataset)
  USING INDEX SEEK d:Dataset(key)
  WHERE d.key > '' AND d.tenant = $given.tenant AND coalesce(d.dropped, false) = false
    AND NOT EXISTS { (d)<-[:READS|WRITES]-() } AND NOT EXISTS { (d)<-[:CONSUMES]-() }
    AND NOT EXISTS { (d)<-[:CONSUMED|PRODUCED]-() } AND NOT EXISTS { (d)<-[:RENAMED_TO]-() }
    AND NOT EXISTS { (d)-[:KNOWN_AS]->(:Alias)<-[:KNOWN_AS]-(other:Dataset)<-[:READS|WRITES]-() WHERE other <> d }
    AND NOT EXISTS { (d)<-[:DECLARES]-(:Declaration {current: true, reference: true}) }
  WITH d, d.key AS id, d.key AS subject
  RETURN count(*) AS total, count(CASE WHEN subject IN $given.exempt THEN 1 END) AS exempted
}
RETURN total, exempted, COLLECT {
  MATCH (d:Dataset)
  USING INDEX SEEK d:Dataset(key)
  WHERE d.key > '' AND d.tenant = $given.tenant AND coalesce(d.dropped, false) = false
    AND NOT EXISTS { (d)<-[:READS|WRITES]-() } AND NOT EXISTS { (d)<-[:CONSUMES]-() }
    AND NOT EXISTS { (d)<-[:CONSUMED|PRODUCED]-() } AND NOT EXISTS { (d)<-[:RENAMED_TO]-() }
    AND NOT EXISTS { (d)-[:KNOWN_AS]->(:Alias)<-[:KNOWN_AS]-(other:Dataset)<-[:READS|WRITES]-() WHERE other <> d }
    AND NOT EXISTS { (d)<-[:DECLARES]-(:Declaration {current: true, reference: true}) }
  WITH d, d.key AS id, d.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  RETURN {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}} AS row
  ORDER BY row.id
} AS found
