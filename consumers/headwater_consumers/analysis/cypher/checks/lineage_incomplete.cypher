// Jobs whose latest column lineage is incomplete, or isn't known at all
CALL () {
  MATCH (j:HwJob)
  USING INDEX SEEK j:HwJob(key)
  WHERE j.key > '' AND j.tenant = $given.tenant AND EXISTS { (j)-[:WRITES {observed: true}]->() }
  CALL (j) {
    OPTIONAL MATCH (p:HwPlan)-[:OF]->(j) WHERE p.last_seen IS NOT NULL
    WITH p ORDER BY p.last_seen DESC, p.key LIMIT 1
    RETURN p
  }
  WITH j, p WHERE p IS NULL OR coalesce(p.complete, false) = false
  WITH j, p, j.key AS id, j.key AS subject
  WITH subject, CASE WHEN subject IN $given.exempt THEN subject END AS exempt
  RETURN count(*) AS total, count(exempt) AS exempted, collect(DISTINCT exempt) AS met
}
CALL (total, exempted) {
  WITH total, exempted WHERE total > exempted
  MATCH (j:HwJob)
  USING INDEX SEEK j:HwJob(key)
  WHERE j.key > '' AND j.tenant = $given.tenant AND EXISTS { (j)-[:WRITES {observed: true}]->() }
  CALL (j) {
    OPTIONAL MATCH (p:HwPlan)-[:OF]->(j) WHERE p.last_seen IS NOT NULL
    WITH p ORDER BY p.last_seen DESC, p.key LIMIT 1
    RETURN p
  }
  WITH j, p WHERE p IS NULL OR coalesce(p.complete, false) = false
  WITH j, p, j.key AS id, j.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  WITH {id: id, kind: 'JOB', subject: j {.key, .namespace, .name, .processing_type, .owners}, since: coalesce(p.first_seen, j.first_seen), known: p IS NOT NULL,
    reason: p.incomplete_reason} AS row
  ORDER BY row.id
  RETURN collect(row) AS found
}
RETURN total, exempted, met, found
