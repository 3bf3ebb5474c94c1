// Versions of tables that jobs write, which no run or micro-batch is known to have written
CALL () {
  MATCH (v:Version)
  USING INDEX SEEK v:Version(key)
  WHERE v.key > '' AND v.tenant = $given.tenant AND v.format <> 'files' AND NOT EXISTS { (v)<-[:WROTE]-() }
  MATCH (v)-[:OF]->(d:Dataset) WHERE EXISTS { (d)<-[:WRITES {observed: true}]-(:Job) } AND NOT EXISTS { (d)<-[:PRODUCED]-(:Summary) }
  WITH v, d, v.key AS id, d.key AS subject
  RETURN count(*) AS total, count(CASE WHEN subject IN $given.exempt THEN 1 END) AS exempted
}
RETURN total, exempted, COLLECT {
  MATCH (v:Version)
  USING INDEX SEEK v:Version(key)
  WHERE v.key > '' AND v.tenant = $given.tenant AND v.format <> 'files' AND NOT EXISTS { (v)<-[:WROTE]-() }
  MATCH (v)-[:OF]->(d:Dataset) WHERE EXISTS { (d)<-[:WRITES {observed: true}]-(:Job) } AND NOT EXISTS { (d)<-[:PRODUCED]-(:Summary) }
  WITH v, d, v.key AS id, d.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  RETURN {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}, format: v.format, version: v.version} AS row
  ORDER BY row.id
} AS found
