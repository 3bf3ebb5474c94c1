// Runs without an end of which nothing was seen for long; an application is seen with what it started
CALL () {
  MATCH (r:HwRun)
  USING INDEX SEEK r:HwRun(open, last_seen)
  WHERE r.open = true AND r.last_seen < $given.open_before AND r.tenant = $given.tenant
    AND NOT EXISTS { (r)<-[:CHILD_OF]-(c:HwRun) WHERE c.last_seen >= $given.open_before }
  MATCH (r)-[:OF]->(j:HwJob {namespace: r.job_namespace, name: r.job_name})
  WITH r, j, r.key AS id, j.key AS subject
  WITH subject, CASE WHEN subject IN $given.exempt THEN subject END AS exempt
  RETURN count(*) AS total, count(exempt) AS exempted, collect(DISTINCT exempt) AS met
}
CALL (total, exempted) {
  WITH total, exempted WHERE total > exempted
  MATCH (r:HwRun)
  USING INDEX SEEK r:HwRun(open, last_seen)
  WHERE r.open = true AND r.last_seen < $given.open_before AND r.tenant = $given.tenant
    AND NOT EXISTS { (r)<-[:CHILD_OF]-(c:HwRun) WHERE c.last_seen >= $given.open_before }
  MATCH (r)-[:OF]->(j:HwJob {namespace: r.job_namespace, name: r.job_name})
  WITH r, j, r.key AS id, j.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  WITH {id: id, kind: 'JOB', subject: j {.key, .namespace, .name, .processing_type, .owners}, since: r.last_seen, run_id: r.run_id} AS row
  ORDER BY row.id
  RETURN collect(row) AS found
}
RETURN total, exempted, met, found
