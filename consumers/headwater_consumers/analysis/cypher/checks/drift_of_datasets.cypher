// Datasets that a job declares and was never observed to use, or uses and does not declare
CALL () {
  MATCH (j:Job)
  USING INDEX SEEK j:Job(key)
  WHERE j.key > '' AND j.tenant = $given.tenant
  CALL (j) {
    MATCH (j)-[r:READS|WRITES]->(:Dataset)
    WITH type(r) AS verb, collect(r) AS uses, max(coalesce(r.declared, false)) AS declared, max(coalesce(r.observed, false)) AS observed
    WHERE declared AND observed
    UNWIND uses AS r
    WITH r WHERE coalesce(r.observed, false) <> coalesce(r.declared, false)
    RETURN r, endNode(r) AS d
  }
  WITH j, r, d WHERE EXISTS { (j)<-[:OF]-(:Run) }
  WITH j, r, d, j.key + ' ' + type(r) + ' ' + d.key AS id, j.key AS subject
  RETURN count(*) AS total, count(CASE WHEN subject IN $given.exempt THEN 1 END) AS exempted
}
RETURN total, exempted, COLLECT {
  MATCH (j:Job)
  USING INDEX SEEK j:Job(key)
  WHERE j.key > '' AND j.tenant = $given.tenant
  CALL (j) {
    MATCH (j)-[r:READS|WRITES]->(:Dataset)
    WITH type(r) AS verb, collect(r) AS uses, max(coalesce(r.declared, false)) AS declared, max(coalesce(r.observed, false)) AS observed
    WHERE declared AND observed
    UNWIND uses AS r
    WITH r WHERE coalesce(r.observed, false) <> coalesce(r.declared, false)
    RETURN r, endNode(r) AS d
  }
  WITH j, r, d WHERE EXISTS { (j)<-[:OF]-(:Run) }
  WITH j, r, d, j.key + ' ' + type(r) + ' ' + d.key AS id, j.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  RETURN {id: id, kind: 'JOB', subject: j {.key, .namespace, .name, .processing_type, .owners}, since: coalesce(r.first_seen, j.first_seen), verb: type(r),
    declared: coalesce(r.declared, false), dataset: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type}} AS row
  ORDER BY row.id
} AS found
