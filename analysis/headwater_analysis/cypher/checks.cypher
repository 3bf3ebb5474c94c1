// frame: Count the findings of a rule, and list some; the rule's own statement has the parts `match` and `row`
CALL () {
  // match
  WITH subject, CASE WHEN subject IN $given.exempt THEN subject END AS exempt
  RETURN count(*) AS total, count(exempt) AS exempted, collect(DISTINCT exempt) AS met
}
CALL (total, exempted) {
  WITH total, exempted WHERE total > exempted
  // match
  WITH * WHERE NOT subject IN $given.exempt AND id > $given.after
  WITH * ORDER BY id LIMIT $given.limit
  // row
  ORDER BY row.id
  RETURN collect(row) AS found
}
RETURN total, exempted, met, found

// broken_chains: Streaming queries whose micro-batches have gaps or overlaps
CALL () {
  MATCH (s:HwSegment)
  USING INDEX SEEK s:HwSegment(_broken)
  WHERE s._broken > '' AND s.tenant = $given.tenant
  RETURN s._broken AS id, s.first_time AS since, size(s.broken) AS places,
    reduce(n = 0, each IN s.missing | n + each) AS missing, reduce(n = 0, each IN s.gaps | n + each) AS gaps,
    reduce(n = 0, each IN s.overlaps | n + each) AS overlaps
  UNION ALL
  UNWIND $given.beside AS each
  RETURN each.query AS id, each.since AS since, 1 AS places, 0 AS missing, each.gaps AS gaps, each.overlaps AS overlaps
}
WITH id, min(since) AS since, sum(places) AS places, sum(missing) AS missing, sum(gaps) AS gaps, sum(overlaps) AS overlaps
MATCH (q:HwQuery {key: id})
OPTIONAL MATCH (q)-[:OF]->(of:HwJob)
WITH q, id, since, places, missing, gaps, overlaps, min(of.key) AS job
MATCH (j:HwJob {key: job})
WITH q, j, id, since, places, missing, gaps, overlaps, j.key AS subject
// row
WITH {id: id, kind: 'JOB', subject: j {.key, .namespace, .name, .processing_type, .owners}, since: since, query_id: q.query_id, query_name: q.query_name,
  places: places, missing: missing, gaps: gaps, overlaps: overlaps} AS row

// certified_datasets: Datasets that are declared certified, and lack a requirement of certified datasets under all their names
MATCH (x:HwDeclaration)
USING INDEX SEEK x:HwDeclaration(key)
WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.certified = true AND x.subject_type = 'dataset'
MATCH (x)-[:DECLARES]->(named:HwDataset)
WITH DISTINCT coalesce($given.names[named.key], [named.key]) AS names
CALL (names) {
  UNWIND names AS name
  MATCH (d:HwDataset {key: name})
  WITH size(coalesce(d.owners, [])) > 0
      OR EXISTS { (d)<-[:DECLARES]-(o:HwDeclaration {current: true}) WHERE size(coalesce(o.owners, [])) > 0 } AS owned,
    EXISTS { (d)<-[:DECLARES]-(o:HwDeclaration {current: true})
      WHERE o.freshness_seconds IS NOT NULL OR o.deadline IS NOT NULL } AS promised,
    EXISTS { (d)-[:HAS_COLUMN]->(:HwColumn)<-[:DERIVES|GENERATES]-() } AS made, EXISTS { (d)<-[:PRODUCED]-() } AS written
  RETURN max(owned) AS owner, max(promised) AS slo, max(made) AS lineage, max(written) AS run
}
WITH names[0] AS id, names[0] AS subject, [each IN [CASE WHEN NOT owner THEN 'owner' END, CASE WHEN NOT slo THEN 'SLO' END,
  CASE WHEN NOT lineage THEN 'column lineage' END, CASE WHEN NOT run THEN 'run' END] WHERE each IS NOT NULL] AS lacks
WHERE size(lacks) > 0
// row
MATCH (d:HwDataset {key: subject})
WITH {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}, lacks: lacks} AS row

// consumer: Consumer with a key
MATCH (c:HwConsumer {key: $given.key}) WHERE c.tenant = $given.tenant
RETURN c.key AS key

// consumers_without_owner: Consumers without a declared owner
MATCH (c:HwConsumer)
USING INDEX SEEK c:HwConsumer(key)
WHERE c.key > '' AND c.tenant = $given.tenant AND EXISTS { (c)<-[:DECLARES]-(:HwDeclaration {current: true}) }
  AND NOT EXISTS { (c)<-[:DECLARES]-(x:HwDeclaration {current: true}) WHERE size(coalesce(x.owners, [])) > 0 }
WITH c, c.key AS id, c.key AS subject
// row
WITH {id: id, kind: 'CONSUMER', subject: c {.key, .name}} AS row

// declared_types: Declared types of columns, each with the observed types of these columns, under any name of their datasets
MATCH (x:HwDeclaration)
USING INDEX SEEK x:HwDeclaration(key)
WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset' AND x.columns IS NOT NULL
MATCH (x)-[r:DECLARES]->(stated:HwColumn) WHERE r.type IS NOT NULL
MATCH (x)-[:DECLARES]->(named:HwDataset)
WITH coalesce($given.names[named.key], [named.key]) AS names, named, stated, r.type AS declared
CALL (names, named, stated) {
  MATCH (named)-[:HAS_COLUMN {current: true}]->(stated)
  RETURN stated AS column
  UNION
  WITH names, named, stated WHERE size(names) > 1 OR NOT EXISTS { (named)-[:HAS_COLUMN {current: true}]->(stated) }
  UNWIND names AS name
  MATCH (:HwDataset {key: name})-[:HAS_COLUMN {current: true}]->(column:HwColumn) WHERE toLower(column.name) = toLower(stated.name)
  RETURN column
}
WITH declared, collect(DISTINCT column.data_type) AS observed
RETURN declared, observed

// drift_of_columns: Columns that a job was observed to derive from other columns than declared, under any name of their datasets
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
// row
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

// drift_of_datasets: Datasets that a job declares without an observed use, or uses without declaring it, under any of their names
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
        MATCH (:HwDataset {key: CASE WHEN use.observed THEN use.dataset ELSE other.dataset END})
          (()-[:FEEDS {declared: true}]->()){1,3}
          (:HwDataset {key: CASE WHEN use.observed THEN other.dataset ELSE use.dataset END}) }
    RETURN use {.dataset, .declared, .observed, since: coalesce(use.since, since)} AS use
  }
  RETURN 'READS' AS verb, use, outputs[0] AS output
}
WITH j, verb, use, output WHERE output IS NOT NULL OR EXISTS { (j)<-[:OF]-(:HwRun) }
WITH j, verb, use, output, j.key AS subject, j.key + ' ' + verb + ' ' + use.dataset + coalesce(' ' + output, '') AS id
// row
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

// drift_of_schemas: Declared columns that the schema of their dataset, under any of its names, lacks or has with another type
CALL () {
  MATCH (x:HwDeclaration)
  USING INDEX SEEK x:HwDeclaration(key)
  WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset' AND x.columns IS NOT NULL
  MATCH (x)-[:DECLARES]->(named:HwDataset)
  MATCH (x)-[:IN_SET]->(s:HwDeclarationSet)
  UNWIND x.columns AS column
  WITH coalesce($given.names[named.key], [named.key]) AS names, column, collect(DISTINCT x.set) AS sets,
    min(s.declared_at) AS declared_at
  WITH names, collect({name: column, sets: sets, declared_at: declared_at}) AS stated
  CALL (names) {
    UNWIND names AS name
    MATCH (:HwDataset {key: name})-[h:HAS_COLUMN]->(c:HwColumn)
    RETURN collect(CASE WHEN h.current THEN toLower(c.name) END) AS there, min(CASE WHEN h.current THEN h.first_seen END) AS first
  }
  WITH names, stated, there, first WHERE size(there) > 0
  UNWIND stated AS each
  WITH names, there, first, each.name AS column, each.sets AS sets, each.declared_at AS declared_at,
    left(toLower(each.name), size(each.name) - size(last(split(each.name, '.')))) AS above
  WHERE NOT toLower(column) IN there AND any(path IN there WHERE path STARTS WITH above)
  RETURN names, column, sets, declared_at, first, null AS type, null AS observed
  UNION ALL
  MATCH (x:HwDeclaration)
  USING INDEX SEEK x:HwDeclaration(key)
  WHERE x.key > '' AND x.tenant = $given.tenant AND x.current = true AND x.subject_type = 'dataset' AND x.columns IS NOT NULL
    AND size(keys($given.differing)) > 0
  MATCH (x)-[r:DECLARES]->(stated:HwColumn) WHERE $given.differing[r.type] IS NOT NULL
  MATCH (x)-[:DECLARES]->(named:HwDataset)
  MATCH (x)-[:IN_SET]->(s:HwDeclarationSet)
  WITH coalesce($given.names[named.key], [named.key]) AS names, named, stated, r.type AS type, x.set AS id, s.declared_at AS at
  CALL (names, named, stated) {
    MATCH (named)-[:HAS_COLUMN {current: true}]->(stated)
    RETURN stated AS column
    UNION
    WITH names, named, stated WHERE size(names) > 1 OR NOT EXISTS { (named)-[:HAS_COLUMN {current: true}]->(stated) }
    UNWIND names AS name
    MATCH (:HwDataset {key: name})-[:HAS_COLUMN {current: true}]->(column:HwColumn) WHERE toLower(column.name) = toLower(stated.name)
    RETURN column
  }
  WITH names, stated.name AS name, type, id, at, column.data_type AS observed
  WHERE observed IN $given.differing[type]
  RETURN names, name AS column, collect(DISTINCT id) AS sets, min(at) AS declared_at, null AS first, type,
    min(observed) AS observed
}
MATCH (d:HwDataset {key: names[0]}) WHERE coalesce(d.dropped, false) = false
WITH d, names, column, sets, declared_at, first, type, observed, d.key AS subject,
  d.key + ' ' + column + coalesce(' ' + type, '') AS id
// row
CALL (names, column, type) {
  WITH names, column, type WHERE type IS NULL
  UNWIND names AS name
  MATCH (:HwDataset {key: name})-[h:HAS_COLUMN]->(c:HwColumn) WHERE toLower(c.name) = toLower(column)
  RETURN max(h.last_seen) AS gone
}
CALL (names, column, observed) {
  WITH names, column, observed WHERE observed IS NOT NULL
  UNWIND names AS name
  MATCH (v:HwSchemaVersion)-[:OF]->(:HwDataset {key: name})
  WHERE any(place IN range(0, size(v.columns) - 1)
    WHERE toLower(v.columns[place]) = toLower(column) AND v.data_types[place] = observed)
  RETURN min(v.first_seen) AS so
}
WITH *, coalesce(gone, so, first) AS seen
WITH {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners},
  since: CASE WHEN seen > declared_at THEN seen ELSE declared_at END, gone: gone IS NOT NULL, column: column, type: type,
  observed: observed, sets: sets[..3]} AS row

// failed_quality: Datasets with readers whose latest run or micro-batch with assertions about them has a failed assertion
CALL () {
  MATCH (q:HwQuery)
  USING INDEX SEEK q:HwQuery(key)
  WHERE q.key > '' AND q.tenant = $given.tenant AND q.last_batch IS NOT NULL
  MATCH (s:HwSegment)
  USING INDEX SEEK s:HwSegment(query, start)
  WHERE s.query = q.key AND s.start = q.last_batch / $given.segment * $given.segment
    AND last(s.failed) > coalesce(s.last_passed, -1)
  MATCH (s)-[:PRODUCED]->(d:HwDataset)
  WITH DISTINCT q, s, coalesce($given.names[d.key], [d.key]) AS names
  WITH names, names[0] + ' ' + q.key AS id, {batch: last(s.failed), query_id: q.query_id, query_name: q.query_name} AS by,
    COUNT { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:READS]-(o:HwJob) WHERE NOT EXISTS { (o)<-[:OF]-(q) } RETURN DISTINCT o }
    + COUNT { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:CONSUMES]-(o) RETURN DISTINCT o } AS readers
  WHERE readers > 0
  RETURN names[0] AS subject, id, by, readers
  UNION ALL
  MATCH (j:HwJob)
  USING INDEX SEEK j:HwJob(key)
  WHERE j.key > '' AND j.tenant = $given.tenant
  CALL (j) {
    MATCH (r:HwRun)
    USING INDEX SEEK r:HwRun(_checked, last_seen)
    WHERE r._checked = j.key AND r.last_seen <= $given.until
    WITH r ORDER BY r._checked DESC, r.last_seen DESC LIMIT $given.looked_at
    MATCH (r)-[use:CONSUMED|PRODUCED]->(d:HwDataset)
    WHERE use.uncommitted IS NULL
    WITH r, d, collect(type(use)) AS uses
    WITH r, d, [n IN range(0, size(r.quality_passed) - 1)
      WHERE (coalesce(r.quality_datasets[n], '') = '' AND 'PRODUCED' IN uses)
        OR (r.quality_datasets[n] = d.name AND r.quality_namespaces[n] = d.namespace) | r.quality_passed[n]] AS passed
    WHERE size(passed) > 0
    WITH r, d, passed ORDER BY r.last_seen DESC, r.key DESC
    WITH d, head(collect({run_id: r.run_id, since: coalesce(r.ended_at, r.last_seen), passed: passed})) AS latest
    WHERE any(held IN latest.passed WHERE NOT held)
    RETURN d, latest
  }
  WITH j, latest, coalesce($given.names[d.key], [d.key]) AS names
  WITH names, names[0] + ' ' + j.key AS id, {run_id: latest.run_id, since: latest.since, job: j {.key, .namespace, .name}} AS by,
    COUNT { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:READS]-(o:HwJob) WHERE o <> j RETURN DISTINCT o }
    + COUNT { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:CONSUMES]-(o) RETURN DISTINCT o } AS readers
  WHERE readers > 0
  RETURN names[0] AS subject, id, by, readers
}
WITH subject, id, by, readers
// row
MATCH (d:HwDataset {key: subject})
WITH {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}, since: by.since, by: by, readers: readers} AS row

// lineage_incomplete: Jobs whose latest column lineage is incomplete or unknown
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
// row
WITH {id: id, kind: 'JOB', subject: j {.key, .namespace, .name, .processing_type, .owners}, since: coalesce(p.first_seen, j.first_seen), known: p IS NOT NULL,
  reason: p.incomplete_reason} AS row

// orphan_datasets: Existing datasets that no job and no consumer uses under any of their names
MATCH (d:HwDataset)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key > '' AND d.tenant = $given.tenant AND coalesce(d.dropped, false) = false
  AND coalesce($given.names[d.key][0], d.key) = d.key
  AND NOT EXISTS { (d)<-[:READS|WRITES]-() } AND NOT EXISTS { (d)<-[:CONSUMES]-() }
  AND NOT EXISTS { (d)<-[:CONSUMED|PRODUCED]-() }
  AND NOT EXISTS { (d)<-[:RENAMED_TO]-(before) WHERE NOT before.key IN coalesce($given.names[d.key], []) }
  AND NOT EXISTS { (d)-[:KNOWN_AS]->(:HwAlias)<-[:KNOWN_AS]-(other:HwDataset)<-[:READS|WRITES]-() WHERE other <> d }
  AND NOT EXISTS { (d)<-[:DECLARES]-(:HwDeclaration {current: true, reference: true}) }
  AND NOT EXISTS { UNWIND tail($given.names[d.key]) AS name MATCH (other:HwDataset {key: name})
    WHERE EXISTS { (other)<-[:READS|WRITES]-() } OR EXISTS { (other)<-[:CONSUMES]-() }
      OR EXISTS { (other)<-[:CONSUMED|PRODUCED]-() }
      OR EXISTS { (other)<-[:DECLARES]-(:HwDeclaration {current: true, reference: true}) } }
WITH d, d.key AS id, d.key AS subject
// row
WITH {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}} AS row

// orphan_jobs: Jobs that read and write nothing, and start no other job
MATCH (j:HwJob)
USING INDEX SEEK j:HwJob(key)
WHERE j.key > '' AND j.tenant = $given.tenant AND NOT EXISTS { (j)-[:READS|WRITES]->() }
  AND NOT EXISTS { (j)<-[:OF]-(:HwRun)<-[:CHILD_OF]-(:HwRun) } AND NOT EXISTS { (j)<-[:OF]-(:HwRun {open: true}) }
WITH j, j.key AS id, j.key AS subject
// row
WITH {id: id, kind: 'JOB', subject: j {.key, .namespace, .name, .processing_type, .owners}, since: j.first_seen} AS row

// respelled: Streaming queries that read a dataset under several names: its keys, first batches of the runs, and broken batches in the graph
UNWIND $given.datasets AS key
MATCH (:HwDataset {key: key})<-[:READS]-(q:HwQuery)
WITH q, collect(key) AS datasets
WHERE size(datasets) > 1
RETURN q.key AS query, datasets, COLLECT { MATCH (q)<-[:IN_QUERY]-(r:HwRun) WHERE r.first_batch > 0 RETURN r.first_batch } AS begins,
  COLLECT { MATCH (q)<-[:IN_QUERY]-(s:HwSegment) WHERE s.broken IS NOT NULL RETURN s.broken } AS broken
ORDER BY query

// rewinds: Batches of streaming queries at which offsets go back, without those that the graph stores as broken
MATCH (s:HwSegment)
USING INDEX SEEK s:HwSegment(_rewinds)
WHERE s._rewinds > '' AND s.tenant = $given.tenant
RETURN s._rewinds AS query, [batch IN s.rewinds WHERE NOT batch IN coalesce(s.broken, [])] AS batches ORDER BY query, s.start

// runs_open_too_long: Runs without an end that were last seen long ago; a run that an application started counts as the application's
MATCH (r:HwRun)
USING INDEX SEEK r:HwRun(open, last_seen)
WHERE r.open = true AND r.last_seen < $given.open_before AND r.tenant = $given.tenant
  AND NOT EXISTS { (r)<-[:CHILD_OF]-(c:HwRun) WHERE c.last_seen >= $given.open_before }
MATCH (r)-[:OF]->(j:HwJob {namespace: r.job_namespace, name: r.job_name})
WITH r, j, r.key AS id, j.key AS subject
// row
WITH {id: id, kind: 'JOB', subject: j {.key, .namespace, .name, .processing_type, .owners}, since: r.last_seen, run_id: r.run_id} AS row

// runs_without_code_version: Runs that wrote something and reported no code version
MATCH (r:HwRun)
USING INDEX SEEK r:HwRun(key)
WHERE r.key > '' AND r.tenant = $given.tenant AND r.code_version IS NULL
  AND (EXISTS { (r)-[p:PRODUCED]->(:HwDataset) WHERE p.uncommitted IS NULL }
    OR EXISTS { (r)<-[:IN_RUN]-(s:HwSegment|HwSummary)-[:PRODUCED]->(:HwDataset) WHERE s.tenant = $given.tenant })
MATCH (r)-[:OF]->(j:HwJob {namespace: r.job_namespace, name: r.job_name})
WITH r, j, r.key AS id, j.key AS subject
// row
WITH {id: id, kind: 'JOB', subject: j {.key, .namespace, .name, .processing_type, .owners}, since: coalesce(r.started_at, r.first_seen), run_id: r.run_id} AS row

// sensitive_downstream: Columns that are derived unmasked from a sensitive column, and are in a current schema
UNWIND $given.made AS made
MATCH (d:HwDataset)-[:HAS_COLUMN]->(c:HwColumn {key: made.column}) WHERE coalesce(d.dropped, false) = false
WITH d, c, made, d.key AS subject, c.key AS id
WHERE EXISTS { MATCH (:HwDataset)-[h:HAS_COLUMN]->(named:HwColumn) WHERE named.key IN made.names AND h.current }
// row
MATCH (of:HwDataset)-[:HAS_COLUMN]->(source:HwColumn {key: made.source})
WITH {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}, column: c.name,
  sensitivity: made.sensitivity, possible: made.possible, source: source.name,
  dataset: of {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type}} AS row

// tainted_datasets: Datasets that a consumer reads and that have bad data of an open incident, by its latest record or its scope
MATCH (i:HwIncident)
USING INDEX SEEK i:HwIncident(state)
WHERE i.state IN ['New', 'Ack', 'Assigned'] AND i.tenant = $given.tenant
MATCH (i)-[r:REACHED|CONCERNS]->(d:HwDataset)
WHERE NOT coalesce(r.cleared, false) AND (type(r) = 'REACHED' OR NOT EXISTS { (i)-[:REACHED]->(d) })
WITH i, coalesce($given.names[d.key], [d.key]) AS names, min(r.since) AS since
WITH i, names, since, COUNT { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:CONSUMES]-(o) RETURN DISTINCT o } AS consumers
WHERE consumers > 0
WITH names[0] + ' ' + i.key AS id, names[0] AS subject, i, min(since) AS since, max(consumers) AS consumers
// row
MATCH (d:HwDataset {key: subject})
WITH {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}, since: since,
  incident: i.incident, severity: i.severity, consumers: consumers} AS row

// versions_without_run: Versions of tables that jobs write, without a known run or micro-batch that wrote them, by any name of the table
MATCH (v:HwVersion)
USING INDEX SEEK v:HwVersion(key)
WHERE v.key > '' AND v.tenant = $given.tenant AND v.format <> 'files' AND NOT EXISTS { (v)<-[:WROTE]-() }
MATCH (v)-[:OF]->(named:HwDataset)
WITH v, coalesce($given.names[named.key], [named.key]) AS names
WHERE EXISTS { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:WRITES {observed: true}]-(:HwJob) }
  AND NOT EXISTS { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:PRODUCED]-(:HwSummary) }
  AND (size(names) = 1 OR NOT EXISTS { UNWIND names AS name
    MATCH (:HwDataset {key: name})<-[:OF]-(o:HwVersion)<-[:WROTE]-() WHERE o.version = v.version AND o.format = v.format })
WITH names[0] AS subject, v.format AS format, v.version AS version, min(v.key) AS id
// row
MATCH (d:HwDataset {key: subject})
WITH {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}, format: format, version: version} AS row

// written_from_outside: Versions with a parent that no known run wrote, and that came after the first version that a run wrote
MATCH (d:HwDataset)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key > '' AND d.tenant = $given.tenant AND coalesce($given.names[d.key][0], d.key) = d.key
WITH d, coalesce($given.names[d.key], [d.key]) AS names
CALL (names) {
  UNWIND names AS name
  MATCH (:HwDataset {key: name})<-[:OF]-(v:HwVersion) WHERE EXISTS { (v)<-[:WROTE]-() }
  WITH collect(v.version) AS claimed, collect(v.parent_id) AS parents
  UNWIND parents AS parent
  WITH CASE WHEN NOT parent IN claimed THEN parent END AS parent
  RETURN collect(parent) AS unclaimed
}
WITH d, names, unclaimed
WHERE size(unclaimed) > 0 AND NOT EXISTS { UNWIND names AS name MATCH (:HwDataset {key: name})<-[:PRODUCED]-(:HwSummary) }
CALL (names, unclaimed) {
  UNWIND names AS name
  MATCH (:HwDataset {key: name})<-[:OF]-(v:HwVersion)<-[w:WROTE]-(by)
  WITH v, min(coalesce(w.first_time, by.ended_at, by.last_seen)) AS at
  WITH min(at) AS first, collect({v: v, at: at}) AS written
  UNWIND written AS one
  WITH one.v AS v, one.at AS at WHERE one.at > first AND one.v.parent_id IN unclaimed
  RETURN v.parent_id AS parent, head(collect({version: v.version, format: v.format, key: v.key, at: at})) AS child
}
WITH d, parent, child, child.key AS id, d.key AS subject
// row
WITH {id: id, kind: 'DATASET', subject: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners}, since: child.at, format: child.format, version: child.version,
  parent: parent} AS row
