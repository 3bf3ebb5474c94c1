// Datasets that a job declares and was never observed to use, or uses and does not declare
CALL () {
  MATCH (j:Job)
  USING INDEX SEEK j:Job(key)
  WHERE j.key > '' AND j.tenant = $given.tenant AND EXISTS { (j)<-[:OF]-(:Run) }
  MATCH (j)-[r:READS|WRITES]->(d:Dataset)
  WHERE coalesce(r.observed, false) <> coalesce(r.declared, false)
    AND CASE type(r) WHEN 'READS' THEN EXISTS { (j)-[:READS {declared: true}]->() }
      ELSE EXISTS { (j)-[:WRITES {declared: true}]->() } END
    AND CASE type(r) WHEN 'READS' THEN EXISTS { (j)-[:READS {observed: true}]->() }
      ELSE EXISTS { (j)-[:WRITES {observed: true}]->() } END
  WITH j, r, d, j.key + ' ' + type(r) + ' ' + d.key AS id, j.key AS subject
  RETURN count(*) AS total, count(CASE WHEN subject IN $given.exempt THEN 1 END) AS exempted
}
RETURN total, exempted, COLLECT {
  MATCH (j:Job)
  USING INDEX SEEK j:Job(key)
  WHERE j.key > '' AND j.tenant = $given.tenant AND EXISTS { (j)<-[:OF]-(:Run) }
  MATCH (j)-[r:READS|WRITES]->(d:Dataset)
  WHERE coalesce(r.observed, false) <> coalesce(r.declared, false)
    AND CASE type(r) WHEN 'READS' THEN EXISTS { (j)-[:READS {declared: true}]->() }
      ELSE EXISTS { (j)-[:WRITES {declared: true}]->() } END
    AND CASE type(r) WHEN 'READS' THEN EXISTS { (j)-[:READS {observed: true}]->() }
      ELSE EXISTS { (j)-[:WRITES {observed: true}]->() } END
  WITH j, r, d, j.key + ' ' + type(r) + ' ' + d.key AS id, j.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  RETURN {id: id, kind: 'JOB', subject: j {.key, .namespace, .name, .processing_type, .owners}, since: coalesce(r.first_seen, j.first_seen), verb: type(r),
    declared: coalesce(r.declared, false), dataset: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type}} AS row
  ORDER BY row.id
} AS found
