// broken_chains: Micro-batches with a gap, an overlap or missing batches before them, query by query, by the index of broken ones
MATCH (s:HwSegment)
USING INDEX SEEK s:HwSegment(_broken)
WHERE s._broken >= $given.after AND s.tenant = $given.tenant AND (s._broken > $given.after OR any(batch IN s.broken WHERE batch > $given.batch))
WITH s ORDER BY s._broken, s.start LIMIT $given.limit
UNWIND s.broken AS batch
WITH s, batch WHERE s._broken > $given.after OR batch > $given.batch
WITH s, batch ORDER BY s._broken, batch LIMIT $given.limit
MATCH (q:HwQuery {key: s._broken})
OPTIONAL MATCH (q)-[:OF]->(j:HwJob)
WITH q, batch, min(j.key) AS job
OPTIONAL MATCH (j:HwJob {key: job})
RETURN q {.key, .query_id, .query_name} AS query, j {.namespace, .name} AS job, batch
ORDER BY q.key, batch

// column: A column of a dataset, by its keys under all names of the dataset: the first one in the current schema
UNWIND range(0, size($given.keys) - 1) AS n
MATCH (c:HwColumn)<-[r:HAS_COLUMN]-(:HwDataset)
USING INDEX SEEK c:HwColumn(key)
WHERE c.key = $given.keys[n]
RETURN c {.key, .name, .data_type, .nullable, .description, .position} AS column,
  r {.current, .first_seen, .last_seen} AS link
ORDER BY coalesce(r.current, false) DESC, n LIMIT 1

// columns: Columns of a dataset by any of its names: columns of the current schema, then columns that left it or that only plans name
UNWIND range(0, size($given.keys) - 1) AS n
MATCH (d:HwDataset)-[r:HAS_COLUMN]->(c:HwColumn)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key = $given.keys[n]
WITH n, c, r ORDER BY n
WITH c.name AS name, collect({column: c {.key, .name, .data_type, .nullable, .description, .position},
  link: r {.current, .first_seen, .last_seen}})[0] AS first
WITH first.column AS column, first.link AS link
RETURN column, link
ORDER BY coalesce(link.current, false) DESC, column.position IS NULL, column.position, column.name LIMIT $given.most

// consumer: Consumers by key
MATCH (c:HwConsumer)
USING INDEX SEEK c:HwConsumer(key)
WHERE c.key IN $given.keys AND c.tenant = $given.tenant
RETURN c.key AS key, c.name AS name

// consumer_names: Names of consumers that are declared now
MATCH (c:HwConsumer)
USING INDEX SEEK c:HwConsumer(key)
WHERE c.key > '' AND c.tenant = $given.tenant AND EXISTS { (c)<-[:DECLARES]-(:HwDeclaration {current: true}) }
RETURN c.name AS name ORDER BY c.key LIMIT $given.limit

// consumers: Currently declared consumers that pass the filters, in order of key
MATCH (n:HwConsumer)
USING INDEX SEEK n:HwConsumer(key)
WHERE n.key > $given.after AND n.tenant = $given.tenant AND EXISTS {
  (n)<-[:DECLARES]-(x:HwDeclaration)
  WHERE x.current AND ($given.types IS NULL OR x.type IN $given.types) }
  AND ($given.owner IS NULL OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current AND $given.owner IN x.owners })
  AND ($given.tag IS NULL OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current
    AND any(i IN range(0, size(coalesce(x.tags, [])) - 1) WHERE x.tags[i] = $given.tag AND ($given.value IS NULL OR x.tag_values[i] = $given.value)) })
RETURN n {.key, .name} AS properties
ORDER BY n.key LIMIT $given.limit

// consumers_by_prefix: Consumers by a prefix of their keys
MATCH (c:HwConsumer)
USING INDEX SEEK c:HwConsumer(key)
WHERE c.key STARTS WITH $given.prefix AND c.tenant = $given.tenant
RETURN c.key AS key, c.name AS name ORDER BY c.key LIMIT $given.limit

// count_broken_chains: Number of pairs of neighbouring micro-batches with a gap, an overlap or missing batches
MATCH (s:HwSegment)
USING INDEX s:HwSegment(_broken)
WHERE s._broken IS NOT NULL AND s.tenant = $given.tenant
RETURN sum(size(s.broken)) AS total

// count_consumers: Number of declared consumers that pass the filters
MATCH (n:HwConsumer)
USING INDEX SEEK n:HwConsumer(key)
WHERE n.key > '' AND n.tenant = $given.tenant AND EXISTS {
  (n)<-[:DECLARES]-(x:HwDeclaration)
  WHERE x.current AND ($given.types IS NULL OR x.type IN $given.types) }
  AND ($given.owner IS NULL OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current AND $given.owner IN x.owners })
  AND ($given.tag IS NULL OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current
    AND any(i IN range(0, size(coalesce(x.tags, [])) - 1) WHERE x.tags[i] = $given.tag AND ($given.value IS NULL OR x.tag_values[i] = $given.value)) })
RETURN count(n) AS total

// count_datasets: Number of Dataset nodes that pass the filters
MATCH (n:HwDataset)
WHERE n.tenant = $given.tenant AND ($given.namespaces IS NULL OR n.namespace IN $given.namespaces)
  AND ($given.owner IS NULL OR $given.owner IN n.owners OR n.key IN $given.owned
    OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current AND $given.owner IN x.owners })
  AND ($given.tag IS NULL OR n.key IN $given.tagged OR any(i IN range(0, size(coalesce(n.tags, [])) - 1) WHERE n.tags[i] = $given.tag AND ($given.value IS NULL OR n.tag_values[i] = $given.value))
    OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current
      AND any(i IN range(0, size(coalesce(x.tags, [])) - 1) WHERE x.tags[i] = $given.tag AND ($given.value IS NULL OR x.tag_values[i] = $given.value)) }
    OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration)-[r:DECLARES]->(:HwColumn) WHERE x.current
      AND any(i IN range(0, size(coalesce(r.tags, [])) - 1) WHERE r.tags[i] = $given.tag AND ($given.value IS NULL OR r.tag_values[i] = $given.value)) })
  AND ($given.types IS NULL OR n.type IN $given.types) AND ($given.gone IS NULL OR coalesce(n.dropped, false) = $given.gone)
RETURN count(n) AS total

// count_jobs: Number of Job nodes that pass the filters
MATCH (n:HwJob)
WHERE n.tenant = $given.tenant AND ($given.namespaces IS NULL OR n.namespace IN $given.namespaces)
  AND ($given.owner IS NULL OR $given.owner IN n.owners
    OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current AND $given.owner IN x.owners })
  AND ($given.tag IS NULL OR any(i IN range(0, size(coalesce(n.tags, [])) - 1) WHERE n.tags[i] = $given.tag AND ($given.value IS NULL OR n.tag_values[i] = $given.value))
    OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current
      AND any(i IN range(0, size(coalesce(x.tags, [])) - 1) WHERE x.tags[i] = $given.tag AND ($given.value IS NULL OR x.tag_values[i] = $given.value)) })
  AND ($given.types IS NULL OR n.processing_type IN $given.types)
RETURN count(n) AS total

// count_runs: Number of runs in each of some states, in a span of time
UNWIND $given.states AS state
MATCH (r:HwRun)
WHERE r.state = state AND coalesce(r.inferred_state, r.state) IN $given.shown AND r.last_seen IS NOT NULL AND r.tenant = $given.tenant
  AND ($given.since IS NULL OR r.last_seen >= $given.since) AND ($given.until IS NULL OR r.last_seen < $given.until)
  AND all(w IN $given.where WHERE r[w.name] = w.value OR (w.begins AND r[w.name] STARTS WITH w.value))
  AND ($given.period IS NULL OR r.nominal_start = $given.period OR (r.nominal_start < $given.period AND r.nominal_end > $given.period))
  AND ($given.statement IS NULL OR toLower(r.statement) CONTAINS toLower($given.statement))
  AND (NOT $given.rejected OR r.rows_rejected > 0)
RETURN count(r) AS total

// dataset: A dataset, and numbers of its columns, jobs and versions under any of its names
MATCH (d:HwDataset)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key = $given.key AND d.tenant = $given.tenant
RETURN properties(d) AS properties,
  COUNT { MATCH (n:HwDataset)-[:HAS_COLUMN]->(c:HwColumn) USING INDEX SEEK n:HwDataset(key) WHERE n.key IN $given.keys RETURN DISTINCT c.name } AS columns_total,
  COUNT { MATCH (n:HwDataset)<-[:WRITES]-(j:HwJob) USING INDEX SEEK n:HwDataset(key) WHERE n.key IN $given.keys RETURN DISTINCT j } AS producers_total,
  COUNT { MATCH (n:HwDataset)<-[:READS]-(j:HwJob) USING INDEX SEEK n:HwDataset(key) WHERE n.key IN $given.keys RETURN DISTINCT j } AS consumers_total,
  COUNT { MATCH (n:HwDataset)<-[:OF]-(v:HwVersion) USING INDEX SEEK n:HwDataset(key) WHERE n.key IN $given.keys RETURN v } AS versions_total,
  COLLECT { MATCH (d)-[:RENAMED_TO]->(next:HwDataset)
    RETURN next {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} ORDER BY next.key LIMIT 100 } AS renamed_to,
  head(COLLECT { MATCH (previous:HwDataset) USING INDEX SEEK previous:HwDataset(key) WHERE previous.key = d.renamed_from
    RETURN previous {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} }) AS renamed_from

// datasets: Dataset nodes that pass the filters, in order of key
MATCH (n:HwDataset)
WHERE n.tenant = $given.tenant AND ($given.namespaces IS NULL OR n.namespace IN $given.namespaces)
  AND ($given.owner IS NULL OR $given.owner IN n.owners OR n.key IN $given.owned
    OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current AND $given.owner IN x.owners })
  AND ($given.tag IS NULL OR n.key IN $given.tagged OR any(i IN range(0, size(coalesce(n.tags, [])) - 1) WHERE n.tags[i] = $given.tag AND ($given.value IS NULL OR n.tag_values[i] = $given.value))
    OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current
      AND any(i IN range(0, size(coalesce(x.tags, [])) - 1) WHERE x.tags[i] = $given.tag AND ($given.value IS NULL OR x.tag_values[i] = $given.value)) }
    OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration)-[r:DECLARES]->(:HwColumn) WHERE x.current
      AND any(i IN range(0, size(coalesce(r.tags, [])) - 1) WHERE r.tags[i] = $given.tag AND ($given.value IS NULL OR r.tag_values[i] = $given.value)) })
  AND ($given.types IS NULL OR n.type IN $given.types) AND ($given.gone IS NULL OR coalesce(n.dropped, false) = $given.gone)
  AND n.key > $given.after
RETURN n {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .owners, .owner_types, .tags, .tag_values, .tag_fields,
  .tag_sources, .classification, .criticality, .dropped} AS properties
ORDER BY n.key LIMIT $given.limit

// datasets_of_consumer: Datasets that a consumer reads, with the columns that it reads of each, in order of name
MATCH (c:HwConsumer)
USING INDEX SEEK c:HwConsumer(key)
WHERE c.key = $given.key AND c.tenant = $given.tenant
MATCH (c)-[:CONSUMES]->(d:HwDataset)
WITH c, d, COUNT { (c)-[:CONSUMES]->(:HwDataset) } AS total
ORDER BY d.namespace, d.name, d.key LIMIT $given.most
RETURN d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .dropped, .owners, .owner_types} AS dataset,
  COLLECT { MATCH (c)-[:CONSUMES]->(x:HwColumn) WHERE x.dataset = d.key RETURN x.name ORDER BY x.name LIMIT $given.most_columns } AS columns,
  COUNT { MATCH (c)-[:CONSUMES]->(x:HwColumn) WHERE x.dataset = d.key } AS columns_total, total

// datasets_of_job: Datasets that a job reads or writes, the latest seen first
MATCH (j:HwJob)-[r:READS|WRITES]->(d:HwDataset)
USING INDEX SEEK j:HwJob(key)
WHERE j.key = $given.key AND type(r) = $given.link
RETURN d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type, .dropped} AS dataset, properties(r) AS link
ORDER BY r.last_seen IS NULL, r.last_seen DESC, d.key LIMIT $given.most

// job: A job, its queries, its latest plan, and numbers of its inputs and outputs
MATCH (j:HwJob {key: $given.key}) WHERE j.tenant = $given.tenant
RETURN properties(j) AS properties,
  COUNT { (j)-[:READS]->(:HwDataset) } AS inputs_total,
  COUNT { (j)-[:WRITES]->(:HwDataset) } AS outputs_total,
  COLLECT { MATCH (j)<-[:OF]-(q:HwQuery)
    RETURN q {.query_id, name: q.query_name, .checkpoint_location, .first_batch, .last_batch, .first_seen, .last_seen} AS query
    ORDER BY q.last_seen IS NULL, q.last_seen DESC, q.key LIMIT $given.most } AS queries,
  head(COLLECT { MATCH (j)<-[:OF]-(p:HwPlan)
    RETURN p {.key, .digest, .complete, .incomplete_reason, .edges, .first_seen, .last_seen} AS plan
    ORDER BY p.last_seen IS NULL, p.last_seen DESC, p.key LIMIT 1 }) AS plan

// jobs: Job nodes that pass the filters, in order of key
MATCH (n:HwJob)
WHERE n.tenant = $given.tenant AND ($given.namespaces IS NULL OR n.namespace IN $given.namespaces)
  AND ($given.owner IS NULL OR $given.owner IN n.owners
    OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current AND $given.owner IN x.owners })
  AND ($given.tag IS NULL OR any(i IN range(0, size(coalesce(n.tags, [])) - 1) WHERE n.tags[i] = $given.tag AND ($given.value IS NULL OR n.tag_values[i] = $given.value))
    OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current
      AND any(i IN range(0, size(coalesce(x.tags, [])) - 1) WHERE x.tags[i] = $given.tag AND ($given.value IS NULL OR x.tag_values[i] = $given.value)) })
  AND ($given.types IS NULL OR n.processing_type IN $given.types)
  AND n.key > $given.after
RETURN n {.key, .namespace, .name, .processing_type, .owners, .owner_types, .tags, .tag_values, .tag_fields,
  .tag_sources, .criticality, .first_seen, .last_seen} AS properties
ORDER BY n.key LIMIT $given.limit

// jobs_of_dataset: Jobs that write or read a dataset by any of its names, the latest seen first
MATCH (d:HwDataset)<-[r:READS|WRITES]-(j:HwJob)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key IN $given.keys AND type(r) = $given.link
WITH j, any(each IN collect(r.observed) WHERE each) AS observed, any(each IN collect(r.declared) WHERE each) AS declared,
  min(r.first_seen) AS first_seen, max(r.last_seen) AS last_seen
RETURN j {.key, .namespace, .name, .processing_type, .owners, .owner_types} AS job,
  {observed: observed, declared: declared, first_seen: first_seen, last_seen: last_seen} AS link
ORDER BY last_seen IS NULL, last_seen DESC, j.key LIMIT $given.most

// labelled: Datasets among some that have an owner, and datasets that have a tag, reported or declared
UNWIND $given.keys AS key
MATCH (n:HwDataset {key: key})
WITH key, $given.owner IN n.owners OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current AND $given.owner IN x.owners } AS owned,
  any(i IN range(0, size(coalesce(n.tags, [])) - 1) WHERE n.tags[i] = $given.tag AND ($given.value IS NULL OR n.tag_values[i] = $given.value))
    OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration) WHERE x.current
      AND any(i IN range(0, size(coalesce(x.tags, [])) - 1) WHERE x.tags[i] = $given.tag AND ($given.value IS NULL OR x.tag_values[i] = $given.value)) }
    OR EXISTS { (n)<-[:DECLARES]-(x:HwDeclaration)-[r:DECLARES]->(:HwColumn) WHERE x.current
      AND any(i IN range(0, size(coalesce(r.tags, [])) - 1) WHERE r.tags[i] = $given.tag AND ($given.value IS NULL OR r.tag_values[i] = $given.value)) } AS tagged
RETURN collect(CASE WHEN owned THEN key END) AS owned, collect(CASE WHEN tagged THEN key END) AS tagged

// labels: Reported labels of datasets: owners, tags, classification and criticality
UNWIND $given.keys AS key
MATCH (n:HwDataset {key: key})
RETURN n.key AS key, n.owners AS owners, n.owner_types AS owner_types, n.tags AS tags, n.tag_values AS tag_values,
  n.tag_fields AS tag_fields, n.tag_sources AS tag_sources, n.classification AS classification, n.criticality AS criticality

// edges_seen: Number of a plan's edges whose both ends the asker may see
MATCH (p:HwPlan {key: $given.plan})
RETURN COUNT {
    UNWIND p._outputs AS output
    MATCH (d:HwDataset {key: output})<-[e:INFLUENCES|GENERATES]-()
    WHERE e.plan = p.key
    RETURN e
  } + COUNT {
    UNWIND p._outputs AS output
    MATCH (d:HwDataset {key: output})-[:HAS_COLUMN]->(:HwColumn)<-[e:DERIVES|GENERATES]-()
    WHERE e.plan = p.key
    RETURN e
  } AS edges

// retention: Latest days before which the micro-batches of some scopes are summarized or dropped
MATCH (r:HwRetention) WHERE r.key IN $given.keys
RETURN max(r.summarize_before) AS summarized_before, max(r.drop_before) AS dropped_before

// runs: Runs in each of some states, the latest seen first, by the index of state and time
UNWIND $given.states AS state
CALL (state) {
  MATCH (r:HwRun)
  WHERE r.state = state AND coalesce(r.inferred_state, r.state) IN $given.shown AND r.last_seen <= $given.at AND ($given.since IS NULL OR r.last_seen >= $given.since)
    AND ($given.until IS NULL OR r.last_seen < $given.until) AND r.tenant = $given.tenant
    AND ($given.key = '' OR r.last_seen < $given.at OR r.key < $given.key)
    AND all(w IN $given.where WHERE r[w.name] = w.value OR (w.begins AND r[w.name] STARTS WITH w.value))
    AND ($given.period IS NULL OR r.nominal_start = $given.period OR (r.nominal_start < $given.period AND r.nominal_end > $given.period))
    AND ($given.statement IS NULL OR toLower(r.statement) CONTAINS toLower($given.statement))
    AND (NOT $given.rejected OR r.rows_rejected > 0)
  RETURN r ORDER BY r.last_seen DESC, r.key DESC LIMIT $given.limit
}
RETURN r {.key, .run_id, .name, .job_namespace, .job_name, .processing_type, state: coalesce(r.inferred_state, r.state), ended_at: coalesce(r.ended_at, r.inferred_ended_at), .inferred_because, .inferred_by, .code_version, .config_version, .plan_digest, .error_type, .error_message, .query_id, .first_batch, .last_batch, .last_seen, began: coalesce(r.started_at, r.first_seen, r.last_seen)} AS run, r.state AS stored
ORDER BY r.state, r.last_seen DESC, r.key DESC

// writers: Jobs that write datasets, each by any of its names, the latest seen first
UNWIND $given.datasets AS each
CALL (each) {
  OPTIONAL MATCH (d:HwDataset)<-[r:WRITES]-(j:HwJob)
  USING INDEX SEEK d:HwDataset(key)
  WHERE d.key IN each.keys
  WITH j, any(o IN collect(r.observed) WHERE o) AS observed, any(o IN collect(r.declared) WHERE o) AS declared,
    min(r.first_seen) AS first_seen, max(r.last_seen) AS last_seen
  ORDER BY last_seen IS NULL, last_seen DESC, j.key
  RETURN collect(CASE WHEN j IS NOT NULL THEN {job: j {.key, .namespace, .name, .processing_type, .owners, .owner_types},
    link: {observed: observed, declared: declared, first_seen: first_seen, last_seen: last_seen}} END) AS jobs
}
RETURN each.key AS key, jobs[..$given.most] AS jobs, size(jobs) AS total
