// Runs without an end of which nothing was seen for long; an application is seen with what it started
CALL () {
  MATCH (r:Run)
  USING INDEX SEEK r:Run(open, last_seen)
  WHERE r.open = true AND r.last_seen < $given.open_before AND r.tenant = $given.tenant
    AND NOT EXISTS { (r)<-[:CHILD_OF]-(c:Run) WHERE c.last_seen >= $given.open_before }
  MATCH (r)-[:OF]->(j:Job {namespace: r.job_namespace, name: r.job_name})
  WITH r, j, r.key AS id, j.key AS subject
  RETURN count(*) AS total, count(CASE WHEN subject IN $given.exempt THEN 1 END) AS exempted
}
RETURN total, exempted, COLLECT {
  MATCH (r:Run)
  USING INDEX SEEK r:Run(open, last_seen)
  WHERE r.open = true AND r.last_seen < $given.open_before AND r.tenant = $given.tenant
    AND NOT EXISTS { (r)<-[:CHILD_OF]-(c:Run) WHERE c.last_seen >= $given.open_before }
  MATCH (r)-[:OF]->(j:Job {namespace: r.job_namespace, name: r.job_name})
  WITH r, j, r.key AS id, j.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  RETURN {id: id, kind: 'JOB', subject: j {.key, .namespace, .name, .processing_type, .owners}, since: r.last_seen, run_id: r.run_id} AS row
  ORDER BY row.id
} AS found
