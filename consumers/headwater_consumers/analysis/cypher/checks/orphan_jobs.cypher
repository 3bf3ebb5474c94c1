// Jobs that read and write nothing, and start no other
CALL () {
  MATCH (j:HwJob)
  USING INDEX SEEK j:HwJob(key)
  WHERE j.key > '' AND j.tenant = $given.tenant AND NOT EXISTS { (j)-[:READS|WRITES]->() }
    AND NOT EXISTS { (j)<-[:OF]-(:HwRun)<-[:CHILD_OF]-(:HwRun) } AND NOT EXISTS { (j)<-[:OF]-(:HwRun {open: true}) }
  WITH j, j.key AS id, j.key AS subject
  WITH subject, CASE WHEN subject IN $given.exempt THEN subject END AS exempt
  RETURN count(*) AS total, count(exempt) AS exempted, collect(DISTINCT exempt) AS met
}
CALL (total, exempted) {
  WITH total, exempted WHERE total > exempted
  MATCH (j:HwJob)
  USING INDEX SEEK j:HwJob(key)
  WHERE j.key > '' AND j.tenant = $given.tenant AND NOT EXISTS { (j)-[:READS|WRITES]->() }
    AND NOT EXISTS { (j)<-[:OF]-(:HwRun)<-[:CHILD_OF]-(:HwRun) } AND NOT EXISTS { (j)<-[:OF]-(:HwRun {open: true}) }
  WITH j, j.key AS id, j.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  WITH {id: id, kind: 'JOB', subject: j {.key, .namespace, .name, .processing_type, .owners}, since: j.first_seen} AS row
  ORDER BY row.id
  RETURN collect(row) AS found
}
RETURN total, exempted, met, found
