// Datasets that a job declares and was never observed to use, or uses and does not declare, under any of their names
CALL () {
  MATCH (j:HwJob)
  USING INDEX SEEK j:HwJob(key)
  WHERE j.key > '' AND j.tenant = $given.tenant AND EXISTS { (j)-[:READS|WRITES {declared: true}]->() }
  CALL (j) {
    MATCH (j)-[r:READS|WRITES]->(named:HwDataset)
    WITH type(r) AS verb, coalesce($given.names[named.key][0], named.key) AS dataset,
      max(coalesce(r.declared, false)) AS declared, max(coalesce(r.observed, false)) AS observed, min(r.first_seen) AS since
    WITH verb, collect({dataset: dataset, declared: declared, observed: observed, since: since}) AS uses,
      max(declared) AS any_declared, max(observed) AS any_observed
    WHERE any_declared AND any_observed
    UNWIND uses AS use
    WITH verb, use WHERE use.observed <> use.declared
    RETURN verb, use, null AS output
    UNION ALL
    MATCH (j)<-[:DECLARES]-(x:HwDeclaration {current: true})-[:IN_SET]->(s:HwDeclarationSet)
    WHERE s.format IN ['dbt', 'odcs'] AND NOT EXISTS { (j)-[:READS|WRITES {observed: true}]->() }
    MATCH (j)-[:WRITES]->(named:HwDataset)
    WITH DISTINCT j, coalesce($given.names[named.key], [named.key]) AS outputs
    CALL (j, outputs) {
      UNWIND outputs AS name
      MATCH (:HwDataset {key: name})<-[f:FEEDS]-(named:HwDataset)
      WITH coalesce($given.names[named.key][0], named.key) AS dataset, f.job = j.key AND coalesce(f.declared, false) AS declared,
        coalesce(f.observed, false) AS observed, f.first_seen AS first_seen
      WHERE (declared OR observed) AND dataset <> outputs[0]
      WITH dataset, max(declared) AS declared, max(observed) AS observed, min(first_seen) AS since
      WITH collect({dataset: dataset, declared: declared, observed: observed, since: since}) AS uses,
        max(declared) AS any_declared, max(observed) AS any_observed, min(since) AS since
      WHERE any_declared AND any_observed
      UNWIND uses AS use
      WITH uses, use, since WHERE use.observed <> use.declared
        AND NOT EXISTS { UNWIND uses AS other WITH other WHERE (use.observed AND other.declared) OR (use.declared AND other.observed)
          MATCH (:HwDataset {key: CASE WHEN use.observed THEN use.dataset ELSE other.dataset END})-[:FEEDS*1..3 {declared: true}]->
            (:HwDataset {key: CASE WHEN use.observed THEN other.dataset ELSE use.dataset END}) }
      RETURN use {.dataset, .declared, .observed, since: coalesce(use.since, since)} AS use
    }
    RETURN 'READS' AS verb, use, outputs[0] AS output
  }
  WITH j, verb, use, output WHERE output IS NOT NULL OR EXISTS { (j)<-[:OF]-(:HwRun) }
  WITH j, verb, use, output, j.key AS subject, j.key + ' ' + verb + ' ' + use.dataset + coalesce(' ' + output, '') AS id
  WITH subject, CASE WHEN subject IN $given.exempt THEN subject END AS exempt
  RETURN count(*) AS total, count(exempt) AS exempted, collect(DISTINCT exempt) AS met
}
CALL (total, exempted) {
  WITH total, exempted WHERE total > exempted
  MATCH (j:HwJob)
  USING INDEX SEEK j:HwJob(key)
  WHERE j.key > '' AND j.tenant = $given.tenant AND EXISTS { (j)-[:READS|WRITES {declared: true}]->() }
  CALL (j) {
    MATCH (j)-[r:READS|WRITES]->(named:HwDataset)
    WITH type(r) AS verb, coalesce($given.names[named.key][0], named.key) AS dataset,
      max(coalesce(r.declared, false)) AS declared, max(coalesce(r.observed, false)) AS observed, min(r.first_seen) AS since
    WITH verb, collect({dataset: dataset, declared: declared, observed: observed, since: since}) AS uses,
      max(declared) AS any_declared, max(observed) AS any_observed
    WHERE any_declared AND any_observed
    UNWIND uses AS use
    WITH verb, use WHERE use.observed <> use.declared
    RETURN verb, use, null AS output
    UNION ALL
    MATCH (j)<-[:DECLARES]-(x:HwDeclaration {current: true})-[:IN_SET]->(s:HwDeclarationSet)
    WHERE s.format IN ['dbt', 'odcs'] AND NOT EXISTS { (j)-[:READS|WRITES {observed: true}]->() }
    MATCH (j)-[:WRITES]->(named:HwDataset)
    WITH DISTINCT j, coalesce($given.names[named.key], [named.key]) AS outputs
    CALL (j, outputs) {
      UNWIND outputs AS name
      MATCH (:HwDataset {key: name})<-[f:FEEDS]-(named:HwDataset)
      WITH coalesce($given.names[named.key][0], named.key) AS dataset, f.job = j.key AND coalesce(f.declared, false) AS declared,
        coalesce(f.observed, false) AS observed, f.first_seen AS first_seen
      WHERE (declared OR observed) AND dataset <> outputs[0]
      WITH dataset, max(declared) AS declared, max(observed) AS observed, min(first_seen) AS since
      WITH collect({dataset: dataset, declared: declared, observed: observed, since: since}) AS uses,
        max(declared) AS any_declared, max(observed) AS any_observed, min(since) AS since
      WHERE any_declared AND any_observed
      UNWIND uses AS use
      WITH uses, use, since WHERE use.observed <> use.declared
        AND NOT EXISTS { UNWIND uses AS other WITH other WHERE (use.observed AND other.declared) OR (use.declared AND other.observed)
          MATCH (:HwDataset {key: CASE WHEN use.observed THEN use.dataset ELSE other.dataset END})-[:FEEDS*1..3 {declared: true}]->
            (:HwDataset {key: CASE WHEN use.observed THEN other.dataset ELSE use.dataset END}) }
      RETURN use {.dataset, .declared, .observed, since: coalesce(use.since, since)} AS use
    }
    RETURN 'READS' AS verb, use, outputs[0] AS output
  }
  WITH j, verb, use, output WHERE output IS NOT NULL OR EXISTS { (j)<-[:OF]-(:HwRun) }
  WITH j, verb, use, output, j.key AS subject, j.key + ' ' + verb + ' ' + use.dataset + coalesce(' ' + output, '') AS id
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  MATCH (d:HwDataset {key: use.dataset})
  OPTIONAL MATCH (o:HwDataset {key: output})
  CALL (j, verb, use) {
    WITH j, verb, use WHERE use.declared
    MATCH (j)<-[:DECLARES]-(x:HwDeclaration {current: true})-[:IN_SET]->(s:HwDeclarationSet)
    WHERE any(name IN coalesce($given.names[use.dataset], [use.dataset]) WHERE name IN CASE verb WHEN 'READS' THEN x.inputs ELSE x.outputs END)
    RETURN min(s.declared_at) AS declared_at
  }
  WITH *, coalesce(use.since, j.first_seen) AS seen
  WITH {id: id, kind: 'JOB', subject: j {.key, .namespace, .name, .processing_type, .owners},
    since: CASE WHEN declared_at > seen THEN declared_at ELSE seen END, verb: verb, declared: use.declared,
    dataset: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type},
    output: o {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type}} AS row
  ORDER BY row.id
  RETURN collect(row) AS found
}
RETURN total, exempted, met, found
