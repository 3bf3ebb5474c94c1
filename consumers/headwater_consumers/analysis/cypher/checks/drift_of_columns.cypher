// Columns that a job declares to make from others than it was observed to
CALL () {
  MATCH (j:Job)
  USING INDEX SEEK j:Job(key)
  WHERE j.key > '' AND j.tenant = $given.tenant AND EXISTS { (j)<-[:OF]-(:Plan {complete: true}) }
    AND (j.declared_plan IS NOT NULL OR EXISTS { (j)<-[:DECLARES]-(x:Declaration {current: true}) WHERE x.plan IS NOT NULL })
  CALL (j) {
    MATCH (p:Plan)-[:OF]->(j)
    WITH j, p, p.digest = j.declared_plan
      OR EXISTS { (j)<-[:DECLARES]-(x:Declaration {current: true}) WHERE x.plan = p.digest } AS declared
    RETURN collect(CASE WHEN declared THEN p.key END) AS declared,
      collect(CASE WHEN p.last_seen IS NOT NULL AND p.complete THEN p.key END) AS observed,
      min(CASE WHEN p.last_seen IS NOT NULL AND p.complete THEN p.first_seen END) AS since
  }
  WITH j, declared, observed, since WHERE size(declared) > 0 AND size(observed) > 0
  MATCH (j)-[w:WRITES {declared: true, observed: true}]->(d:Dataset)-[:HAS_COLUMN]->(c:Column)<-[e:DERIVES]-(source)
  WHERE e.job = j.key AND e.type = 'DIRECT' AND (e.plan IN declared OR e.plan IN observed)
  WITH j, d, c, since, declared, observed, source, collect(e.plan) AS plans
  WITH j, d, c, since, source, any(plan IN plans WHERE plan IN declared) AS is_declared,
    any(plan IN plans WHERE plan IN observed) AS is_observed
  WITH j, d, c, since, collect(CASE WHEN is_declared AND NOT is_observed THEN source.name END) AS missing,
    collect(CASE WHEN is_observed AND NOT is_declared THEN source.name END) AS more, max(is_declared) AS any_declared
  WHERE any_declared AND (size(missing) > 0 OR size(more) > 0)
  WITH j, d, c, since, missing, more, j.key + ' ' + c.key AS id, j.key AS subject
  RETURN count(*) AS total, count(CASE WHEN subject IN $given.exempt THEN 1 END) AS exempted
}
RETURN total, exempted, COLLECT {
  MATCH (j:Job)
  USING INDEX SEEK j:Job(key)
  WHERE j.key > '' AND j.tenant = $given.tenant AND EXISTS { (j)<-[:OF]-(:Plan {complete: true}) }
    AND (j.declared_plan IS NOT NULL OR EXISTS { (j)<-[:DECLARES]-(x:Declaration {current: true}) WHERE x.plan IS NOT NULL })
  CALL (j) {
    MATCH (p:Plan)-[:OF]->(j)
    WITH j, p, p.digest = j.declared_plan
      OR EXISTS { (j)<-[:DECLARES]-(x:Declaration {current: true}) WHERE x.plan = p.digest } AS declared
    RETURN collect(CASE WHEN declared THEN p.key END) AS declared,
      collect(CASE WHEN p.last_seen IS NOT NULL AND p.complete THEN p.key END) AS observed,
      min(CASE WHEN p.last_seen IS NOT NULL AND p.complete THEN p.first_seen END) AS since
  }
  WITH j, declared, observed, since WHERE size(declared) > 0 AND size(observed) > 0
  MATCH (j)-[w:WRITES {declared: true, observed: true}]->(d:Dataset)-[:HAS_COLUMN]->(c:Column)<-[e:DERIVES]-(source)
  WHERE e.job = j.key AND e.type = 'DIRECT' AND (e.plan IN declared OR e.plan IN observed)
  WITH j, d, c, since, declared, observed, source, collect(e.plan) AS plans
  WITH j, d, c, since, source, any(plan IN plans WHERE plan IN declared) AS is_declared,
    any(plan IN plans WHERE plan IN observed) AS is_observed
  WITH j, d, c, since, collect(CASE WHEN is_declared AND NOT is_observed THEN source.name END) AS missing,
    collect(CASE WHEN is_observed AND NOT is_declared THEN source.name END) AS more, max(is_declared) AS any_declared
  WHERE any_declared AND (size(missing) > 0 OR size(more) > 0)
  WITH j, d, c, since, missing, more, j.key + ' ' + c.key AS id, j.key AS subject
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  RETURN {id: id, kind: 'JOB', subject: j {.key, .namespace, .name, .processing_type, .owners}, since: since, column: c.name, missing: missing[..3], more: more[..3],
    dataset: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type}} AS row
  ORDER BY row.id
} AS found
