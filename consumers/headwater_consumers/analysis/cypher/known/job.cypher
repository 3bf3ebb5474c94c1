// A job, its queries, its latest plan, and how much hangs on it
MATCH (j:HwJob {key: $given.key}) WHERE j.tenant = $given.tenant
RETURN properties(j) AS properties,
  COUNT { (j)-[:READS]->(:HwDataset) } AS inputs_total,
  COUNT { (j)-[:WRITES]->(:HwDataset) } AS outputs_total,
  COLLECT { MATCH (j)<-[:OF]-(q:HwQuery)
    RETURN q {.query_id, name: q.query_name, .checkpoint_location, .first_batch, .last_batch, .first_seen, .last_seen}
    ORDER BY q.last_seen IS NULL, q.last_seen DESC, q.key LIMIT $given.most } AS queries,
  head(COLLECT { MATCH (j)<-[:OF]-(p:HwPlan)
    RETURN p {.digest, .complete, .incomplete_reason, .edges, .first_seen, .last_seen}
    ORDER BY p.last_seen IS NULL, p.last_seen DESC, p.key LIMIT 1 }) AS plan
