// by_key: An incident by its key
MATCH (n:HwIncident {key: $given.key})
RETURN n {.*} AS properties

// by_prefix: Incidents by a prefix of their ids
MATCH (n:HwIncident)
USING INDEX SEEK n:HwIncident(key)
WHERE n.key > '' AND n.tenant = $given.tenant AND toLower(n.incident) STARTS WITH toLower($given.prefix)
RETURN n {.*} AS properties ORDER BY n.incident LIMIT $given.limit

// checkpoints: Locations of checkpoints of streaming queries
UNWIND $given.queries AS key
MATCH (q:HwQuery {key: key})
RETURN key, q.checkpoint_location AS location

// children: Runs that a run started, the latest first
MATCH (:HwRun {key: $given.key})<-[:CHILD_OF]-(c:HwRun)
RETURN c.run_id AS run_id ORDER BY c.started_at DESC, c.key LIMIT $given.limit

// count: Number of incidents that pass the filters
MATCH (n:HwIncident)
USING INDEX SEEK n:HwIncident(key)
WHERE n.key > '' AND n.tenant = $given.tenant AND ($given.states IS NULL OR n.state IN $given.states)
  AND ($given.severities IS NULL OR n.severity IN $given.severities)
  AND ($given.datasets IS NULL OR EXISTS { (n)-[:CONCERNS|REACHED]->(d:HwDataset) WHERE d.key IN $given.datasets })
RETURN count(n) AS total

// earlier_runs: The latest complete batch run of a job before a time that wrote a dataset (null: any), and isn't bad
UNWIND $given.wants AS want
CALL (want) {
  MATCH (j:HwJob {key: want.job})<-[:OF]-(r:HwRun)
  WHERE r.query_id IS NULL AND r.state = 'COMPLETE' AND r.started_at < want.before
  WITH j, r ORDER BY r.started_at DESC, r.key DESC LIMIT $given.most
  WITH j, r
  WHERE NOT r.run_id IN $given.bad AND NOT false IN coalesce(r.quality_passed, []) AND EXISTS {
    MATCH (r)-[u:PRODUCED]->(d:HwDataset)
    WHERE (want.datasets IS NULL OR d.key IN want.datasets) AND u.uncommitted IS NULL
    RETURN u
  }
  RETURN j, r ORDER BY r.started_at DESC, r.key DESC LIMIT 1
}
RETURN want.n AS n, r {.*} AS properties, j {.key, .namespace, .name, .processing_type} AS job, [] AS uses

// figures: Open incidents, and those that were opened, acknowledged or resolved in a period
MATCH (n:HwIncident)
USING INDEX SEEK n:HwIncident(key)
WHERE n.key > '' AND n.tenant = $given.tenant AND n.state IS NOT NULL
  AND (n.state IN $given.states OR n.opened_at >= $given.since OR n.acknowledged_at >= $given.since OR n.resolved_at >= $given.since)
RETURN n.state AS state, n.severity AS severity, n.opened_at AS opened_at, n.acknowledged_at AS acknowledged_at,
  n.resolved_at AS resolved_at, n.resolution AS resolution

// job: A job by its key
MATCH (n:HwJob {key: $given.key})
RETURN n {.key, .namespace, .name, .processing_type} AS job

// list: Incidents that pass the filters, the latest opened first
MATCH (n:HwIncident)
USING INDEX SEEK n:HwIncident(key)
WHERE n.key > '' AND n.tenant = $given.tenant AND ($given.states IS NULL OR n.state IN $given.states)
  AND ($given.severities IS NULL OR n.severity IN $given.severities)
  AND ($given.datasets IS NULL OR EXISTS { (n)-[:CONCERNS|REACHED]->(d:HwDataset) WHERE d.key IN $given.datasets })
WITH n, coalesce(n.opened_at, $given.epoch) AS opened
WHERE $given.began IS NULL OR opened < $given.began OR (opened = $given.began AND n.key > $given.key)
RETURN n {.incident, .state, .title, .severity, .type, .cause, .assignee, .opened_at, .acknowledged_at, .resolved_at,
  .resolution, .merged_into, .superseded_by, .scope, .reached_datasets, .reached_as_of, .reached_complete, .key} AS properties
ORDER BY opened DESC, n.key LIMIT $given.limit

// marks: Open incidents that reached some datasets, or whose bad data began in them
UNWIND $given.datasets AS dataset
MATCH (d:HwDataset {key: dataset})<-[r:CONCERNS|REACHED]-(n:HwIncident)
WHERE n.state IN $given.states AND NOT coalesce(r.cleared, false) AND (type(r) = 'REACHED' OR NOT EXISTS { (n)-[:REACHED]->(d) })
RETURN dataset, n.incident AS incident, n.title AS title, n.severity AS severity, type(r) AS type,
  r.certainty AS certainty, r.since AS since, n.reached_as_of AS as_of
ORDER BY dataset, incident, type DESC

// of_airflow: Airflow's facets of runs, or else of the nearest run above each
UNWIND $given.runs AS key
MATCH (r:HwRun {key: key})
OPTIONAL MATCH (r)-[:CHILD_OF]->(a:HwRun)
OPTIONAL MATCH (a)-[:CHILD_OF]->(b:HwRun)
WITH key, head([n IN [r, a, b] WHERE n IS NOT NULL AND 'airflow' IN coalesce(n.facet_names, [])]) AS n
WHERE n IS NOT NULL
RETURN key, head([i IN range(0, size(n.facet_names) - 1) WHERE n.facet_names[i] = 'airflow' | n.facets[i]]) AS facet

// of_cause: Ids and states of the incidents of a cause
MATCH (n:HwIncident)
USING INDEX SEEK n:HwIncident(cause)
WHERE n.cause = $given.cause AND n.tenant = $given.tenant
RETURN n.incident AS incident, n.state AS state ORDER BY n.opened_at, n.key

// of_scope: Open incidents with exactly these parts, the first opened first
UNWIND $given.states AS state
MATCH (n:HwIncident {state: state})
WHERE n.tenant = $given.tenant AND n.scope = $given.scope
RETURN n.incident AS incident, n.severity AS severity, n.type AS type ORDER BY n.opened_at, n.key

// open: Open incidents, the latest opened first
MATCH (n:HwIncident)
USING INDEX SEEK n:HwIncident(state)
WHERE n.state IN $given.states AND n.tenant = $given.tenant
RETURN n {.*} AS properties ORDER BY n.opened_at DESC, n.key LIMIT $given.limit

// partition_mappings: Declared mappings of partitions, of some jobs
UNWIND $given.jobs AS key
MATCH (j:HwJob {key: key})<-[:DECLARES]-(x:HwDeclaration)
WHERE x.current
UNWIND range(0, size(coalesce(x.partition_inputs, [])) - 1) AS n
RETURN DISTINCT key AS job, x.partition_inputs[n] AS input, x.partition_input_fields[n] AS input_field,
  x.partition_outputs[n] AS output, x.partition_output_fields[n] AS output_field, x.partition_transforms[n] AS transform
ORDER BY job, input, input_field, output, output_field, transform

// runs_of_job: Ids of a job's runs in a time, the latest first
MATCH (:HwJob {key: $given.key})<-[:OF]-(r:HwRun)
WHERE ($given.code_version IS NULL OR r.code_version = $given.code_version) AND (NOT $given.batch_runs OR r.query_id IS NULL)
  AND (r.started_at IS NULL OR r.started_at < $given.until) AND (r.ended_at IS NULL OR r.ended_at >= $given.since)
RETURN r.run_id AS run_id ORDER BY r.started_at DESC, r.key LIMIT $given.limit

// seen_columns: Columns among some that a schema or a plan has; an incident that names a column puts it into the graph
UNWIND $given.nodes AS node
MATCH (:HwDataset)-[r:HAS_COLUMN]->(c:HwColumn) WHERE id(c) = node
  AND (r.first_seen IS NOT NULL OR coalesce(r.current, false) OR EXISTS { (c)-[:DERIVES|INFLUENCES]->() }
    OR EXISTS { (c)<-[:DERIVES|GENERATES]-() })
RETURN collect(DISTINCT node) AS nodes

// to_notify: Ids of open incidents, and of those with recipients who don't know of the resolution, the latest opened first
MATCH (n:HwIncident)
USING INDEX SEEK n:HwIncident(key)
WHERE n.key > '' AND n.tenant = $given.tenant
  AND (n.state IN $given.states OR (n.state = 'Resolved' AND n.notified_unresolved > 0))
RETURN n.incident AS incident ORDER BY n.opened_at DESC, n.key

// version_parents: Parents of versions of datasets
UNWIND $given.versions AS key
MATCH (v:HwVersion {key: key})
WHERE v.parent_id IS NOT NULL
RETURN key, v.parent_id AS parent
