// assets: Columns and datasets by key, for answers
CALL () {
  MATCH (c:HwColumn)<-[:HAS_COLUMN]-(d:HwDataset) WHERE c.key IN $given.columns
  RETURN c.key AS key, d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS dataset, c {.key, .name, .data_type} AS column
 UNION ALL
  MATCH (d:HwDataset) WHERE d.key IN $given.datasets
  RETURN d.key AS key, d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS dataset, null AS column
}
RETURN key, dataset, column

// changed_jobs: Jobs with a plan that became active, or was observed again, between two times
MATCH (p:HwPlan)
USING SCAN p:HwPlan
WHERE p.tenant = $given.tenant AND p.last_seen > $given.since AND p.first_seen <= $given.until
WITH p WHERE p.first_seen > $given.since OR EXISTS { (p)<-[u:USED]-() WHERE u.first_seen > $given.since AND u.first_seen <= $given.until }
MATCH (p)-[:OF]->(j:HwJob)
WITH DISTINCT j ORDER BY j.key LIMIT $given.limit
RETURN j {.key, .namespace, .name, .processing_type} AS job

// code_version: Latest run of a code version of a job: time when it was last seen, and number of runs
MATCH (:HwJob {key: $given.job})<-[:OF]-(r:HwRun)
WHERE r.code_version = $given.code_version
WITH r ORDER BY coalesce(r.last_seen, r.started_at) DESC, r.key DESC
WITH collect(r)[0] AS r, count(*) AS runs
WHERE r IS NOT NULL
RETURN r.key AS run, coalesce(r.last_seen, r.ended_at, r.started_at) AS at, runs

// code_versions: Code versions of a job's runs
MATCH (:HwJob {key: $given.job})<-[:OF]-(r:HwRun)
WHERE r.code_version IS NOT NULL
RETURN r.code_version AS code_version, max(coalesce(r.last_seen, r.started_at)) AS at
ORDER BY at DESC LIMIT $given.limit

// code_versions_like: Code versions of a job's runs by prefix
MATCH (:HwJob {key: $given.job})<-[:OF]-(r:HwRun)
WHERE r.code_version STARTS WITH $given.prefix
RETURN DISTINCT r.code_version AS code_version ORDER BY code_version LIMIT $given.limit

// columns: Columns of datasets' schemas, and the span in which each was in a schema
MATCH (d:HwDataset)-[r:HAS_COLUMN]->(c:HwColumn)
WHERE d.key IN $given.datasets AND r.first_seen IS NOT NULL
RETURN d {.key, .namespace, .name, .title, .symlinks, .symlink_types} AS dataset, c {.key, .name, .data_type} AS column, r.first_seen AS first_seen,
  CASE WHEN r.current THEN null ELSE r.last_seen END AS last_seen
LIMIT $given.limit

// edges: Edges of plans of a job: to columns of its outputs, to its outputs as a whole, and edges without a source
CALL () {
  MATCH (:HwJob {key: $given.job})-[:WRITES]->(:HwDataset)-[:HAS_COLUMN]->(target:HwColumn)<-[e:DERIVES]-(source)
  WHERE e.plan IN $given.plans
  RETURN e, source.key AS source, source:HwColumn AS from_column, target
 UNION ALL
  MATCH (:HwJob {key: $given.job})-[:WRITES]->(target:HwDataset)<-[e:INFLUENCES]-(source)
  WHERE e.plan IN $given.plans
  RETURN e, source.key AS source, source:HwColumn AS from_column, target
 UNION ALL
  MATCH (p:HwPlan)-[e:GENERATES]->(target)
  WHERE p.key IN $given.plans
  RETURN e, null AS source, false AS from_column, target
}
WITH e, source, from_column, target LIMIT $given.limit
RETURN e.plan AS plan, source, from_column, target.key AS target, target:HwColumn AS into_column,
  coalesce(target.dataset, target.key) AS dataset, e.type AS type, e.subtype AS subtype, e.kind AS kind,
  e.masking AS masking, e.expression AS expression, e.expression_id AS expression_id

// latest_run: First observation of the latest run of a job that had been seen by a time
MATCH (:HwJob {key: $given.job})<-[:OF]-(r:HwRun)
WHERE r.first_seen <= $given.as_of OR $given.as_of IS NULL
RETURN max(r.first_seen) AS first_seen

// links_at: Datasets that a job reads and writes, with the spans of the uses
MATCH (:HwJob {key: $given.job})-[l:READS|WRITES]->(d:HwDataset)
RETURN type(l) AS type, d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS dataset, l.first_seen AS first_seen,
  l.last_seen AS last_seen, coalesce(l.declared, false) AS declared

// links_of_runs: Datasets that runs read and wrote, by their own reports and by their plans
MATCH (r:HwRun) WHERE r.key IN $given.runs
CALL (r) {
  MATCH (r)-[u:CONSUMED|PRODUCED]->(d:HwDataset)
  RETURN CASE type(u) WHEN 'CONSUMED' THEN 'READS' ELSE 'WRITES' END AS type, d
 UNION
  MATCH (r)-[:IN_QUERY]->(:HwQuery)-[l:READS|WRITES]->(d:HwDataset)
  WHERE l.first_seen <= r.last_seen AND l.last_seen >= r.first_seen
  RETURN type(l) AS type, d
}
RETURN DISTINCT type, d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS dataset

// runs_of_version: Runs of one code version of a job, the latest ones
MATCH (:HwJob {key: $given.job})<-[:OF]-(r:HwRun)
WHERE r.code_version = $given.code_version
WITH r ORDER BY coalesce(r.last_seen, r.started_at) DESC, r.key DESC LIMIT $given.limit
RETURN collect(r.key) AS runs

// schemas_of_runs: Digests of the schemas with which runs read and wrote datasets, the latest runs last
MATCH (r:HwRun)-[u:CONSUMED|PRODUCED]->(d:HwDataset)
WHERE r.key IN $given.runs AND u.schema_digest IS NOT NULL
RETURN CASE type(u) WHEN 'CONSUMED' THEN 'READS' ELSE 'WRITES' END AS type, d.key AS dataset, u.schema_digest AS digest
ORDER BY coalesce(r.last_seen, r.started_at), r.key, coalesce(u.ordinal, 0) DESC

// uses_of_runs: Plans of a job that runs used, and the writes of each run; times in microseconds
MATCH (o:HwRun)-[u:USED]->(p:HwPlan)-[:OF]->(:HwJob {key: $given.job})
WHERE o.key IN $given.runs
OPTIONAL MATCH (o)-[:CHILD_OF]->(parent:HwRun) WHERE o.query_id IS NULL
RETURN p.digest AS digest, p.complete AS complete, coalesce(p._outputs, []) AS outputs,
  [p.key, coalesce(parent, o).key,
    u.first_seen.epochMillis * 1000 + u.first_seen.microsecond % 1000,
    u.last_seen.epochMillis * 1000 + u.last_seen.microsecond % 1000,
    CASE
      WHEN o.query_id IS NOT NULL THEN o.first_batch IS NOT NULL OR o.state IN ['RUNNING', 'COMPLETE']
      ELSE o.state = 'COMPLETE' AND (parent.state IS NULL OR parent.state = 'COMPLETE')
    END] AS use,
  CASE WHEN o.state = 'COMPLETE' AND o.query_id IS NULL
    THEN [(o)-[w:PRODUCED]->(d:HwDataset) | w {dataset: d.key, .facet_names, .facets, .operation}] ELSE [] END AS produced

// writers: Jobs that write a dataset
MATCH (d:HwDataset)<-[:WRITES]-(j:HwJob)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key IN $given.datasets
RETURN DISTINCT j {.key, .namespace, .name, .processing_type} AS job ORDER BY job.key LIMIT $given.limit
