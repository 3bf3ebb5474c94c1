// Runs that wrote something and report no code version
CALL () {
  MATCH (r:HwRun)
  USING INDEX SEEK r:HwRun(key)
  WHERE r.key > '' AND r.tenant = $given.tenant AND r.code_version IS NULL
    AND (EXISTS { (r)-[p:PRODUCED]->(:HwDataset) WHERE p.uncommitted IS NULL }
      OR EXISTS { (r)<-[:IN_RUN]-(s:HwSegment|HwSummary)-[:PRODUCED]->(:HwDataset) WHERE s.tenant = $given.tenant })
  MATCH (r)-[:OF]->(j:HwJob {namespace: r.job_namespace, name: r.job_name})
  WITH r, j, r.key AS id, j.key AS subject
  WITH subject, CASE WHEN subject IN $given.exempt THEN subject END AS exempt
  RETURN count(*) AS total, count(exempt) AS exempted, collect(DISTINCT exempt) AS met
}
CALL (total, exempted) {
  WITH total, exempted WHERE total > exempted
  MATCH (r:HwRun)
  USING INDEX SEEK r:HwRun(key)
  WHERE r.key > '' AND r.tenant = $given.tenant AND r.code_version IS NULL
    AND (EXISTS { (r)-[p:PRODUCED]->(:HwDataset) WHERE p.uncommitted IS NULL }
      OR EXISTS { (r)<-[:IN_RUN]-(s:HwSegment|HwSummary)-[:PRODUCED]->(:HwDataset) WHERE s.tenant = $given.tenant })
  MATCH (r)-[:OF]->(j:HwJob {namespace: r.job_namespace, name: r.job_name})
  WITH r, j, r.key AS id, j.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  WITH {id: id, kind: 'JOB', subject: j {.key, .namespace, .name, .processing_type, .owners}, since: coalesce(r.started_at, r.first_seen), run_id: r.run_id} AS row
  ORDER BY row.id
  RETURN collect(row) AS found
}
RETURN total, exempted, met, found
