// Jobs that read and write nothing, and start no other
CALL () {
  MATCH (j:Job)
  USING INDEX SEEK j:Job(key)
  WHERE j.key > '' AND j.tenant = $given.tenant AND NOT EXISTS { (j)-[:READS|WRITES]->() }
    AND NOT EXISTS { (j)<-[:OF]-(:Run)<-[:CHILD_OF]-(:Run) } AND NOT EXISTS { (j)<-[:OF]-(:Run {open: true}) }
  WITH j, j.key AS id, j.key AS subject
  RETURN count(*) AS total, count(CASE WHEN subject IN $given.exempt THEN 1 END) AS exempted
}
RETURN total, exempted, COLLECT {
  MATCH (j:Job)
  USING INDEX SEEK j:Job(key)
  WHERE j.key > '' AND j.tenant = $given.tenant AND NOT EXISTS { (j)-[:READS|WRITES]->() }
    AND NOT EXISTS { (j)<-[:OF]-(:Run)<-[:CHILD_OF]-(:Run) } AND NOT EXISTS { (j)<-[:OF]-(:Run {open: true}) }
  WITH j, j.key AS id, j.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  RETURN {id: id, kind: 'JOB', subject: j {.key, .namespace, .name, .processing_type, .owners}, since: j.first_seen} AS row
  ORDER BY row.id
} AS found
