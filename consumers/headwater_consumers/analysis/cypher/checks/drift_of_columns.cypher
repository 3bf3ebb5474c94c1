// Columns that a job declares to make from others than it was observed to, under any name of their datasets
CALL () {
  MATCH (j:HwJob)
  USING INDEX SEEK j:HwJob(key)
  WHERE j.key > '' AND j.tenant = $given.tenant
    AND (j.declared_plan IS NOT NULL OR EXISTS { (j)<-[:DECLARES]-(x:HwDeclaration {current: true}) WHERE x.plan IS NOT NULL })
  CALL (j) {
    MATCH (p:HwPlan)-[:OF]->(j)
    WHERE p.digest = j.declared_plan OR EXISTS { (j)<-[:DECLARES]-(x:HwDeclaration {current: true}) WHERE x.plan = p.digest }
    RETURN collect(p.key) AS declared
  }
  CALL (j) {
    MATCH (j)-[:WRITES {declared: true}]->(named:HwDataset)
    RETURN collect(DISTINCT coalesce($given.names[named.key], [named.key])) AS outputs
  }
  CALL (j, outputs) {
    WITH j, outputs WHERE EXISTS { (j)-[:WRITES {observed: true}]->() }
    RETURN [j] AS makers
    UNION
    MATCH (j)<-[:DECLARES]-(x:HwDeclaration {current: true})-[:IN_SET]->(s:HwDeclarationSet)
    WHERE s.format IN ['dbt', 'odcs'] AND NOT EXISTS { (j)-[:WRITES {observed: true}]->() }
    UNWIND outputs AS names
    UNWIND names AS name
    MATCH (:HwDataset {key: name})<-[:WRITES {observed: true}]-(maker:HwJob)
    RETURN collect(DISTINCT maker) AS makers
  }
  WITH j, declared, outputs, makers WHERE size(declared) > 0 AND size(makers) > 0
  CALL (makers) {
    UNWIND makers AS maker
    MATCH (p:HwPlan {complete: true})-[:OF]->(maker) WHERE p.last_seen IS NOT NULL
    RETURN collect(p.key) AS observed
  }
  WITH j, declared, outputs, makers, observed WHERE size(observed) > 0
  UNWIND outputs AS names
  WITH j, declared, observed, names
  WHERE EXISTS { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:WRITES {observed: true}]-(maker:HwJob) WHERE maker IN makers }
  CALL (names, declared, observed) {
    UNWIND names AS name
    MATCH (:HwDataset {key: name})-[:HAS_COLUMN]->(c:HwColumn)<-[e:DERIVES]-(origin)
    WHERE e.type = 'DIRECT' AND (e.plan IN declared OR e.plan IN observed)
    MATCH (p:HwPlan {key: e.plan})
    WITH c.name AS column, CASE WHEN origin:HwColumn THEN origin.name END AS path,
      coalesce($given.names[coalesce(origin.dataset, origin.key)][0], origin.dataset, origin.key) AS dataset,
      max(p.key IN declared) AS stated, min(CASE WHEN p.key IN observed THEN p.first_seen END) AS seen
    WITH column, collect({dataset: dataset, path: path, stated: stated, seen: seen}) AS made, max(stated) AS any_stated,
      min(seen) AS first, min(CASE WHEN NOT stated THEN seen END) AS differs
    WITH column, coalesce(differs, first) AS since, any_stated,
      [each IN made WHERE each.seen IS NULL | each {.dataset, .path}] AS missing,
      [each IN made WHERE NOT each.stated | each {.dataset, .path}] AS more
    WHERE any_stated AND (size(missing) > 0 OR size(more) > 0)
    RETURN column, missing, more, since
  }
  WITH j, names[0] AS output, column, missing, more, since, observed, j.key AS subject, j.key + ' ' + names[0] + ' ' + column AS id
  WITH subject, CASE WHEN subject IN $given.exempt THEN subject END AS exempt
  RETURN count(*) AS total, count(exempt) AS exempted, collect(DISTINCT exempt) AS met
}
CALL (total, exempted) {
  WITH total, exempted WHERE total > exempted
  MATCH (j:HwJob)
  USING INDEX SEEK j:HwJob(key)
  WHERE j.key > '' AND j.tenant = $given.tenant
    AND (j.declared_plan IS NOT NULL OR EXISTS { (j)<-[:DECLARES]-(x:HwDeclaration {current: true}) WHERE x.plan IS NOT NULL })
  CALL (j) {
    MATCH (p:HwPlan)-[:OF]->(j)
    WHERE p.digest = j.declared_plan OR EXISTS { (j)<-[:DECLARES]-(x:HwDeclaration {current: true}) WHERE x.plan = p.digest }
    RETURN collect(p.key) AS declared
  }
  CALL (j) {
    MATCH (j)-[:WRITES {declared: true}]->(named:HwDataset)
    RETURN collect(DISTINCT coalesce($given.names[named.key], [named.key])) AS outputs
  }
  CALL (j, outputs) {
    WITH j, outputs WHERE EXISTS { (j)-[:WRITES {observed: true}]->() }
    RETURN [j] AS makers
    UNION
    MATCH (j)<-[:DECLARES]-(x:HwDeclaration {current: true})-[:IN_SET]->(s:HwDeclarationSet)
    WHERE s.format IN ['dbt', 'odcs'] AND NOT EXISTS { (j)-[:WRITES {observed: true}]->() }
    UNWIND outputs AS names
    UNWIND names AS name
    MATCH (:HwDataset {key: name})<-[:WRITES {observed: true}]-(maker:HwJob)
    RETURN collect(DISTINCT maker) AS makers
  }
  WITH j, declared, outputs, makers WHERE size(declared) > 0 AND size(makers) > 0
  CALL (makers) {
    UNWIND makers AS maker
    MATCH (p:HwPlan {complete: true})-[:OF]->(maker) WHERE p.last_seen IS NOT NULL
    RETURN collect(p.key) AS observed
  }
  WITH j, declared, outputs, makers, observed WHERE size(observed) > 0
  UNWIND outputs AS names
  WITH j, declared, observed, names
  WHERE EXISTS { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:WRITES {observed: true}]-(maker:HwJob) WHERE maker IN makers }
  CALL (names, declared, observed) {
    UNWIND names AS name
    MATCH (:HwDataset {key: name})-[:HAS_COLUMN]->(c:HwColumn)<-[e:DERIVES]-(origin)
    WHERE e.type = 'DIRECT' AND (e.plan IN declared OR e.plan IN observed)
    MATCH (p:HwPlan {key: e.plan})
    WITH c.name AS column, CASE WHEN origin:HwColumn THEN origin.name END AS path,
      coalesce($given.names[coalesce(origin.dataset, origin.key)][0], origin.dataset, origin.key) AS dataset,
      max(p.key IN declared) AS stated, min(CASE WHEN p.key IN observed THEN p.first_seen END) AS seen
    WITH column, collect({dataset: dataset, path: path, stated: stated, seen: seen}) AS made, max(stated) AS any_stated,
      min(seen) AS first, min(CASE WHEN NOT stated THEN seen END) AS differs
    WITH column, coalesce(differs, first) AS since, any_stated,
      [each IN made WHERE each.seen IS NULL | each {.dataset, .path}] AS missing,
      [each IN made WHERE NOT each.stated | each {.dataset, .path}] AS more
    WHERE any_stated AND (size(missing) > 0 OR size(more) > 0)
    RETURN column, missing, more, since
  }
  WITH j, names[0] AS output, column, missing, more, since, observed, j.key AS subject, j.key + ' ' + names[0] + ' ' + column AS id
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  MATCH (d:HwDataset {key: output})
  CALL (observed) {
    UNWIND observed AS key
    MATCH (p:HwPlan {key: key})
    RETURN min(p.first_seen) AS first
  }
  CALL (missing, more) {
    UNWIND missing + more AS each
    WITH DISTINCT each.dataset AS key
    MATCH (x:HwDataset {key: key})
    RETURN collect(x {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type}) AS datasets
  }
  CALL (j, more) {
    WITH j, more WHERE size(more) = 0
    MATCH (j)<-[:DECLARES]-(x:HwDeclaration {current: true})-[:IN_SET]->(s:HwDeclarationSet) WHERE x.plan IS NOT NULL
    RETURN min(s.declared_at) AS declared_at
  }
  WITH *, coalesce(since, first) AS seen
  WITH {id: id, kind: 'JOB', subject: j {.key, .namespace, .name, .processing_type, .owners},
    since: CASE WHEN declared_at > seen THEN declared_at ELSE seen END, column: column, missing: missing, more: more,
    datasets: datasets, dataset: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type}} AS row
  ORDER BY row.id
  RETURN collect(row) AS found
}
RETURN total, exempted, met, found
