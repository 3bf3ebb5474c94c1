// Jobs that have a criticality, declared or reported; and what the latest run that wrote each dataset published
CALL () {
  UNWIND $given.jobs AS key
  MATCH (j:HwJob {key: key})
  WITH j, CASE WHEN $given.declarations THEN head(COLLECT {
    MATCH (j)<-[:DECLARES]-(x:HwDeclaration {current: true})-[:IN_SET]->(by:HwDeclarationSet) WHERE x.criticality IS NOT NULL
    RETURN x.criticality ORDER BY by.name
  }) END AS declared
  WITH j, coalesce(declared, j.criticality) AS criticality WHERE criticality IS NOT NULL
  RETURN collect([j.key, j.name, criticality]) AS jobs
}
CALL () {
  // A dataset is the nodes of all its names. Looked at are each job's latest runs with a plan.
  UNWIND $given.datasets AS names
  CALL (names) {
    UNWIND names AS node
    MATCH (d:HwDataset)<-[:WRITES]-(j:HwJob) WHERE id(d) = node
    CALL (d, j) {
      MATCH (r:HwRun)-[u:USED]->(:HwPlan)
      WHERE u._job = j.key AND u.first_seen <= $given.until
      WITH r, u ORDER BY u._job DESC, u.first_seen DESC LIMIT $given.looked_at
      WITH r, u WHERE EXISTS { (r)-[:PRODUCED]->(d) }
      RETURN r.publication AS publication, u.first_seen AS at, r.key AS run ORDER BY u.first_seen DESC, r.key LIMIT 1
    }
    RETURN publication ORDER BY at DESC, run DESC LIMIT 1
  }
  WITH names[0] AS node, publication WHERE publication IS NOT NULL
  RETURN collect([node, publication]) AS published
}
RETURN jobs, published
