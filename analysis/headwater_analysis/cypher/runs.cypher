// by_key: Runs by key
MATCH (r:HwRun) WHERE r.key IN $given.keys AND r.tenant = $given.tenant
RETURN r {.key, .run_id, .name, .job_namespace, .job_name, .processing_type, state: coalesce(r.inferred_state, r.state), ended_at: coalesce(r.ended_at, r.inferred_ended_at), .inferred_because, .inferred_by, .code_version, .config_version, .plan_digest, .error_type, .error_message, .query_id, .first_batch, .last_batch, began: coalesce(r.started_at, r.first_seen, r.last_seen)} AS run

// by_prefix: Runs by a prefix of their ids
UNWIND $given.prefixes AS prefix
MATCH (r:HwRun) WHERE r._id_start STARTS WITH prefix.start AND r.tenant = $given.tenant AND r.run_id STARTS WITH prefix.id
WITH DISTINCT r ORDER BY r.run_id LIMIT $given.limit
RETURN r {.key, .run_id, .name, .job_namespace, .job_name, .processing_type, state: coalesce(r.inferred_state, r.state), ended_at: coalesce(r.ended_at, r.inferred_ended_at), .inferred_because, .inferred_by, .code_version, .config_version, .plan_digest, .error_type, .error_message, .query_id, .first_batch, .last_batch, began: coalesce(r.started_at, r.first_seen, r.last_seen)} AS run

// checking_jobs: Jobs that read or write a dataset and have runs with assertions
MATCH (d:HwDataset)<-[:READS|WRITES]-(j:HwJob)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key IN $given.of
WITH DISTINCT j
WHERE COUNT {
  MATCH (r:HwRun)
  USING INDEX SEEK r:HwRun(_checked, last_seen)
  WHERE r._checked = j.key AND r.last_seen <= $given.until
  RETURN r LIMIT 1
} > 0
RETURN j.key AS key ORDER BY key

// count_all_of_job: Number of all runs of a job
MATCH (:HwJob {key: $given.of})<-[:OF]-(r:HwRun)
RETURN count(r) AS total

// count_of_dataset: Number of runs that read or wrote a dataset
MATCH (d:HwDataset)<-[link:READS|WRITES]-(:HwJob)<-[:OF]-(r:HwRun)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key IN $given.of AND type(link) = $given.link AND ($given.states IS NULL OR coalesce(r.inferred_state, r.state) IN $given.states)
  AND all(w IN $given.where WHERE r[w.name] = w.value OR (w.begins AND r[w.name] STARTS WITH w.value))
  AND ($given.period IS NULL OR r.nominal_start = $given.period OR (r.nominal_start < $given.period AND r.nominal_end > $given.period))
  AND ($given.statement IS NULL OR toLower(r.statement) CONTAINS toLower($given.statement))
  AND (NOT $given.rejected OR r.rows_rejected > 0)
WITH DISTINCT r, coalesce(r.started_at, r.first_seen, r.last_seen, $given.epoch) AS began
WHERE ($given.since IS NULL OR began >= $given.since) AND ($given.until IS NULL OR began < $given.until)
WITH r
WHERE EXISTS { (r)-[own:CONSUMED|PRODUCED]->(d:HwDataset) WHERE type(own) = $given.use AND d.key IN $given.of }
  OR EXISTS {
    MATCH (r)<-[:IN_RUN]-(i:HwSegment)
    WITH i LIMIT $given.probed
    MATCH (i)-[part:CONSUMED|PRODUCED]->(d:HwDataset) WHERE type(part) = $given.use AND d.key IN $given.of
    RETURN part
  }
RETURN count(r) AS total

// count_of_job: Number of a job's runs
MATCH (:HwJob {key: $given.of})<-[:OF]-(r:HwRun)
WHERE ($given.states IS NULL OR coalesce(r.inferred_state, r.state) IN $given.states)
  AND all(w IN $given.where WHERE r[w.name] = w.value OR (w.begins AND r[w.name] STARTS WITH w.value))
  AND ($given.period IS NULL OR r.nominal_start = $given.period OR (r.nominal_start < $given.period AND r.nominal_end > $given.period))
  AND ($given.statement IS NULL OR toLower(r.statement) CONTAINS toLower($given.statement))
  AND (NOT $given.rejected OR r.rows_rejected > 0)
WITH coalesce(r.started_at, r.first_seen, r.last_seen, $given.epoch) AS began
WHERE ($given.since IS NULL OR began >= $given.since) AND ($given.until IS NULL OR began < $given.until)
RETURN count(*) AS total

// count_of_queries: Number of known micro-batches of queries
MATCH (q:HwQuery) WHERE q.key IN $given.queries
RETURN sum(reduce(total = 0, batches IN [(q)<-[:IN_QUERY]-(s:HwSegment) | s.batches] | total + batches)) AS total

// count_of_run: Number of micro-batches observed in a run
MATCH (r:HwRun {key: $given.run})
RETURN reduce(total = 0, batches IN [(r)<-[in:IN_RUN]-(:HwSegment) | in.batches] | total + batches) AS total

// count_open: Number of runs without an end
MATCH (r:HwRun)
USING INDEX r:HwRun(open, last_seen)
WHERE r.open = true AND r.last_seen < $given.before AND r.tenant = $given.tenant
  AND ($given.of IS NULL OR EXISTS { (r)-[:OF]->(:HwJob {key: $given.of}) })
CALL (r) {
  OPTIONAL MATCH (r)<-[:CHILD_OF]-(c:HwRun)
  RETURN max(c.last_seen) AS below
}
WITH r, CASE WHEN below > r.last_seen THEN below ELSE r.last_seen END AS seen
WHERE seen < $given.before
RETURN count(*) AS total

// count_versions: Number of versions of a dataset
MATCH (d:HwDataset)<-[:OF]-(v:HwVersion) WHERE d.key IN $given.of
RETURN count(v) AS total

// details: Further details of a run
MATCH (r:HwRun {key: $given.run})
RETURN r {.nominal_start, .nominal_end, .engine, .engine_version, .capture_version, .error_stack, .publication,
    .checkpoint_location, .script, .repository, .branch, .package, .image, .user, .service, .campaign, .statement,
    .rows_rejected, .provenance, .first_seen, .last_seen, .parent_run_id, .parent_job_namespace, .parent_job_name,
    .root_run_id, .root_job_namespace, .root_job_name, .facet_names, .facets, .quality_assertions, .quality_passed,
    .quality_columns, .quality_values, .quality_namespaces, .quality_datasets, .quality_rules, .quality_severities,
    .quality_suites, .quality_suite_versions} AS details,
  COUNT { (r)<-[:CHILD_OF]-() } AS children, COUNT { (r)<-[:IN_RUN]-() } AS reports

// first_failed: The first micro-batch after a batch with a failed assertion
MATCH (s:HwSegment)
WHERE s.query = $given.query AND s.start > $given.after - $given.size AND any(batch IN s.failed WHERE batch > $given.after)
WITH s ORDER BY s.query, s.start LIMIT 1
RETURN head([batch IN s.failed WHERE batch > $given.after]) AS batch

// jobs_of_queries: The job of each streaming query; if there are several, the first by key
UNWIND $given.queries AS key
MATCH (:HwQuery {key: key})-[:OF]->(j:HwJob)
WITH key, j ORDER BY j.key
WITH key, collect(j)[0] AS j
RETURN key, j.namespace AS namespace, j.name AS name

// judged: The latest run of each job without failed assertions, and the first failed one after it; for a dataset, by assertions about it
UNWIND $given.jobs AS job
CALL (job) {
  MATCH (r:HwRun)
  USING INDEX SEEK r:HwRun(_checked, last_seen)
  WHERE r._checked = job AND r.last_seen <= $given.until
  WITH r ORDER BY r._checked DESC, r.last_seen DESC LIMIT $given.looked_at
  RETURN collect(r) AS runs
}
CALL (runs) {
  UNWIND runs AS r
  CALL (r) {
    OPTIONAL MATCH (r)-[use:CONSUMED|PRODUCED]->(d:HwDataset)
    WHERE $given.of IS NOT NULL AND d.key IN $given.of AND use.uncommitted IS NULL
    WITH collect(type(use)) AS uses, collect([d.namespace, d.name]) AS names
    RETURN [n IN range(0, size(r.quality_passed) - 1)
      WHERE $given.of IS NULL OR (coalesce(r.quality_datasets[n], '') = '' AND 'PRODUCED' IN uses)
        OR [r.quality_namespaces[n], r.quality_datasets[n]] IN names | n] AS about
  }
  WITH r, about WHERE size(about) > 0
  WITH r, about ORDER BY r.last_seen DESC, r.key DESC
  RETURN collect({run: r, failed: [n IN about WHERE NOT r.quality_passed[n]]}) AS judged
}
WITH job, size(runs) AS looked_at, judged, [n IN range(0, size(judged) - 1) WHERE size(judged[n].failed) = 0][0] AS place
WITH job, looked_at, judged[place].run.key AS good, CASE
  WHEN place IS NULL THEN judged[size(judged) - 1]
  WHEN place > 0 THEN judged[place - 1]
END AS bad
WITH job, looked_at, good, bad.failed AS failed, bad.run AS r
RETURN job, looked_at, good, failed, r.key AS bad, r {.quality_assertions, .quality_passed, .quality_columns, .quality_values, .quality_namespaces,
  .quality_datasets, .quality_rules, .quality_severities, .quality_suites, .quality_suite_versions} AS outcomes

// last_passed: The latest micro-batch with assertions and without a failed one, among the latest micro-batches of a query
MATCH (s:HwSegment)
WHERE s.query = $given.query AND s.start > $given.first - $given.size AND s.last_passed >= $given.first
WITH s ORDER BY s.query DESC, s.start DESC LIMIT 1
RETURN s.last_passed AS batch

// next_of_dataset: The first run after another one that read or wrote a dataset, by state
MATCH (d:HwDataset)<-[link:READS|WRITES]-(:HwJob)<-[:OF]-(r:HwRun)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key IN $given.of AND type(link) = $given.link AND coalesce(r.inferred_state, r.state) IN $given.states
WITH DISTINCT r, coalesce(r.started_at, r.first_seen, r.last_seen, $given.epoch) AS began
WHERE $given.began IS NULL OR began > $given.began OR (began = $given.began AND r.key > $given.key)
WITH r, began ORDER BY began, r.key
WHERE EXISTS { (r)-[own:CONSUMED|PRODUCED]->(d:HwDataset) WHERE type(own) = $given.use AND d.key IN $given.of }
  OR EXISTS {
    MATCH (r)<-[:IN_RUN]-(i:HwSegment)
    WITH i LIMIT $given.probed
    MATCH (i)-[part:CONSUMED|PRODUCED]->(d:HwDataset) WHERE type(part) = $given.use AND d.key IN $given.of
    RETURN part
  }
WITH r, began LIMIT 1
RETURN r {.key, .run_id, .name, .job_namespace, .job_name, .processing_type, state: coalesce(r.inferred_state, r.state), ended_at: coalesce(r.ended_at, r.inferred_ended_at), .inferred_because, .inferred_by, .code_version, .config_version, .plan_digest, .error_type, .error_message, .query_id, .first_batch, .last_batch, began: coalesce(r.started_at, r.first_seen, r.last_seen)} AS run

// next_of_job: The first run of a job after another one, by state
MATCH (:HwJob {key: $given.of})<-[:OF]-(r:HwRun)
WHERE coalesce(r.inferred_state, r.state) IN $given.states
WITH r, coalesce(r.started_at, r.first_seen, r.last_seen, $given.epoch) AS began
WHERE $given.began IS NULL OR began > $given.began OR (began = $given.began AND r.key > $given.key)
WITH r, began ORDER BY began, r.key LIMIT 1
RETURN r {.key, .run_id, .name, .job_namespace, .job_name, .processing_type, state: coalesce(r.inferred_state, r.state), ended_at: coalesce(r.ended_at, r.inferred_ended_at), .inferred_because, .inferred_by, .code_version, .config_version, .plan_digest, .error_type, .error_message, .query_id, .first_batch, .last_batch, began: coalesce(r.started_at, r.first_seen, r.last_seen)} AS run

// of_dataset: Runs that read or wrote a dataset, the latest first; found by its jobs, since it may have a million micro-batches
MATCH (d:HwDataset)<-[link:READS|WRITES]-(:HwJob)<-[:OF]-(r:HwRun)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key IN $given.of AND type(link) = $given.link AND ($given.states IS NULL OR coalesce(r.inferred_state, r.state) IN $given.states)
  AND all(w IN $given.where WHERE r[w.name] = w.value OR (w.begins AND r[w.name] STARTS WITH w.value))
  AND ($given.period IS NULL OR r.nominal_start = $given.period OR (r.nominal_start < $given.period AND r.nominal_end > $given.period))
  AND ($given.statement IS NULL OR toLower(r.statement) CONTAINS toLower($given.statement))
  AND (NOT $given.rejected OR r.rows_rejected > 0)
WITH DISTINCT r, coalesce(r.started_at, r.first_seen, r.last_seen, $given.epoch) AS began
WHERE (($given.since IS NULL OR began >= $given.since) AND ($given.until IS NULL OR began < $given.until))
  AND ($given.began IS NULL OR began < $given.began OR (began = $given.began AND r.key < $given.key))
WITH r, began ORDER BY began DESC, r.key DESC
WHERE EXISTS { (r)-[own:CONSUMED|PRODUCED]->(d:HwDataset) WHERE type(own) = $given.use AND d.key IN $given.of }
  OR EXISTS {
    MATCH (r)<-[:IN_RUN]-(i:HwSegment)
    WITH i LIMIT $given.probed
    MATCH (i)-[part:CONSUMED|PRODUCED]->(d:HwDataset) WHERE type(part) = $given.use AND d.key IN $given.of
    RETURN part
  }
WITH r, began LIMIT $given.limit
RETURN r {.key, .run_id, .name, .job_namespace, .job_name, .processing_type, state: coalesce(r.inferred_state, r.state), ended_at: coalesce(r.ended_at, r.inferred_ended_at), .inferred_because, .inferred_by, .code_version, .config_version, .plan_digest, .error_type, .error_message, .query_id, .first_batch, .last_batch, began: coalesce(r.started_at, r.first_seen, r.last_seen)} AS run

// of_job: Runs of a job, the latest first
MATCH (:HwJob {key: $given.of})<-[:OF]-(r:HwRun)
WHERE ($given.states IS NULL OR coalesce(r.inferred_state, r.state) IN $given.states)
  AND all(w IN $given.where WHERE r[w.name] = w.value OR (w.begins AND r[w.name] STARTS WITH w.value))
  AND ($given.period IS NULL OR r.nominal_start = $given.period OR (r.nominal_start < $given.period AND r.nominal_end > $given.period))
  AND ($given.statement IS NULL OR toLower(r.statement) CONTAINS toLower($given.statement))
  AND (NOT $given.rejected OR r.rows_rejected > 0)
WITH r, coalesce(r.started_at, r.first_seen, r.last_seen, $given.epoch) AS began
WHERE ($given.since IS NULL OR began >= $given.since) AND ($given.until IS NULL OR began < $given.until)
  AND ($given.began IS NULL OR began < $given.began OR (began = $given.began AND r.key < $given.key))
WITH r, began ORDER BY began DESC, r.key DESC LIMIT $given.limit
RETURN r {.key, .run_id, .name, .job_namespace, .job_name, .processing_type, state: coalesce(r.inferred_state, r.state), ended_at: coalesce(r.ended_at, r.inferred_ended_at), .inferred_because, .inferred_by, .code_version, .config_version, .plan_digest, .error_type, .error_message, .query_id, .first_batch, .last_batch, began: coalesce(r.started_at, r.first_seen, r.last_seen)} AS run

// open: Runs without an end, the longest unseen first; a run that an application started counts as the application's
MATCH (r:HwRun)
USING INDEX r:HwRun(open, last_seen)
WHERE r.open = true AND r.last_seen < $given.before AND r.tenant = $given.tenant
  AND ($given.of IS NULL OR EXISTS { (r)-[:OF]->(:HwJob {key: $given.of}) })
CALL (r) {
  OPTIONAL MATCH (r)<-[:CHILD_OF]-(c:HwRun)
  RETURN max(c.last_seen) AS below
}
WITH r, CASE WHEN below > r.last_seen THEN below ELSE r.last_seen END AS seen
WHERE seen < $given.before AND ($given.seen IS NULL OR seen > $given.seen OR (seen = $given.seen AND r.key > $given.key))
WITH r, seen ORDER BY seen, r.key LIMIT $given.limit
RETURN seen, [i IN range(0, size(coalesce(r.facet_names, [])) - 1) WHERE r.facet_names[i] = 'headwater_heartbeat' | r.facets[i]] AS heartbeat, r {.key, .run_id, .name, .job_namespace, .job_name, .processing_type, state: coalesce(r.inferred_state, r.state), ended_at: coalesce(r.ended_at, r.inferred_ended_at), .inferred_because, .inferred_by, .code_version, .config_version, .plan_digest, .error_type, .error_message, .query_id, .first_batch, .last_batch, began: coalesce(r.started_at, r.first_seen, r.last_seen)} AS run
ORDER BY seen, run.key

// queries_of_dataset: Streaming queries that write a dataset
MATCH (d:HwDataset)<-[:WRITES]-(q:HwQuery)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key IN $given.of
RETURN DISTINCT q.key AS key, q.query_id AS query_id, q.first_batch AS first, q.last_batch AS last ORDER BY key

// queries_of_job: Streaming queries of a job
MATCH (:HwJob {key: $given.of})<-[:OF]-(q:HwQuery)
RETURN q.key AS key, q.query_id AS query_id, q.first_batch AS first, q.last_batch AS last ORDER BY q.key

// queries_of_run: Streaming queries of a run
MATCH (r:HwRun {key: $given.of})-[:IN_QUERY]->(q:HwQuery)
RETURN q.key AS key, q.query_id AS query_id, coalesce(r.first_batch, q.first_batch) AS first, coalesce(r.last_batch, q.last_batch) AS last ORDER BY q.key

// read_by_runs: Datasets that events of some runs report as inputs, by key
UNWIND $given.runs AS key
MATCH (:HwRun {key: key})-[:CONSUMED]->(d:HwDataset)
RETURN collect(DISTINCT d.key) AS keys

// references_of_runs: Uses of some datasets as inputs of some runs, and the datasets that went into each output of these runs
UNWIND $given.runs AS key
MATCH (r:HwRun {key: key})-[u:CONSUMED]->(d:HwDataset)
WHERE d.key IN $given.references
WITH r, collect({dataset: d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type}, part: properties(u)}) AS read
RETURN r.run_id AS run, read, [(r)-[p:PRODUCED]->(o:HwDataset) | [o.key, p.inputs]] AS wrote
ORDER BY run

// summarized_of_run: Number of a run's micro-batches in summaries
MATCH (r:HwRun {key: $given.run})
RETURN reduce(total = 0, batches IN [(r)<-[:IN_RUN]-(s:HwSummary) | s.batches] | total + batches) AS total

// uses: Inputs and outputs that events of a run report
MATCH (:HwRun {key: $given.run})-[u:CONSUMED|PRODUCED]->(d:HwDataset)
WHERE type(u) = $given.use
RETURN d {.key, .namespace, .name, .title, .symlinks, .symlink_types, .type} AS dataset, properties(u) AS part
ORDER BY dataset.namespace, dataset.name, coalesce(part.ordinal, 0) LIMIT $given.limit

// versions: Versions of a dataset, the latest produced first, with the producers of each
MATCH (d:HwDataset)<-[:OF]-(v:HwVersion) WHERE d.key IN $given.of
WITH v, [(v)<-[w:WROTE]-(p) | coalesce(p.ended_at, w.first_time, p.last_seen)] AS times
WITH v, coalesce(reduce(first = null, t IN times | CASE WHEN first IS NULL OR t < first THEN t ELSE first END), $given.epoch) AS made
WHERE $given.made IS NULL OR made < $given.made OR (made = $given.made AND v.key < $given.key)
WITH v, made ORDER BY made DESC, v.key DESC LIMIT $given.limit
RETURN v {.key, .format, .version, .parent_id, .operation, .partitions, .file_count, .file_bytes} AS version, made,
  reduce(total = 0, n IN [(v)<-[r:READ]-() | size(coalesce(r.batches, [0]))] | total + n) AS readers,
  reduce(total = 0, n IN [(v)<-[r:WROTE]-() | size(coalesce(r.batches, [0]))] | total + n) AS writers,
  COLLECT {
    MATCH (v)<-[:WROTE]-(r:HwRun)
    WITH r, coalesce(r.ended_at, r.last_seen) AS at ORDER BY at, r.key LIMIT $given.producers
    RETURN r {.key, .run_id, .query_id, .code_version, .job_namespace, .job_name, at: at} ORDER BY at, r.key
  } AS runs,
  COLLECT {
    MATCH (v)<-[w:WROTE]-(s:HwSegment)
    WITH s, w ORDER BY w.first_time, s.key LIMIT $given.producers
    RETURN [s.query, w.batches[..$given.producers]] ORDER BY w.first_time, s.key
  } AS segments
ORDER BY made DESC, version.key DESC
