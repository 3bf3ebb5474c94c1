// version_is_one: The graph has one version node
CREATE CONSTRAINT headwater_version_is_one IF NOT EXISTS
FOR (v:HeadwaterGraph) REQUIRE v.id IS UNIQUE

// alias_key: The key of an alias is unique
CREATE CONSTRAINT headwater_alias_key IF NOT EXISTS
FOR (n:HwAlias) REQUIRE n.key IS UNIQUE

// column_key: The key of a column is unique
CREATE CONSTRAINT headwater_column_key IF NOT EXISTS
FOR (n:HwColumn) REQUIRE n.key IS UNIQUE

// consumer_key: The key of a consumer is unique
CREATE CONSTRAINT headwater_consumer_key IF NOT EXISTS
FOR (n:HwConsumer) REQUIRE n.key IS UNIQUE

// dataset_key: The key of a dataset is unique
CREATE CONSTRAINT headwater_dataset_key IF NOT EXISTS
FOR (n:HwDataset) REQUIRE n.key IS UNIQUE

// declaration_key: The key of a declaration is unique
CREATE CONSTRAINT headwater_declaration_key IF NOT EXISTS
FOR (n:HwDeclaration) REQUIRE n.key IS UNIQUE

// declarationset_key: The key of a declaration set is unique
CREATE CONSTRAINT headwater_declarationset_key IF NOT EXISTS
FOR (n:HwDeclarationSet) REQUIRE n.key IS UNIQUE

// incident_key: The key of an incident is unique
CREATE CONSTRAINT headwater_incident_key IF NOT EXISTS
FOR (n:HwIncident) REQUIRE n.key IS UNIQUE

// job_key: The key of a job is unique
CREATE CONSTRAINT headwater_job_key IF NOT EXISTS
FOR (n:HwJob) REQUIRE n.key IS UNIQUE

// plan_key: The key of a plan is unique
CREATE CONSTRAINT headwater_plan_key IF NOT EXISTS
FOR (n:HwPlan) REQUIRE n.key IS UNIQUE

// progress_key: The progress in a partition has one node
CREATE CONSTRAINT headwater_progress_key IF NOT EXISTS
FOR (n:HwProgress) REQUIRE n.key IS UNIQUE

// query_key: The key of a query is unique
CREATE CONSTRAINT headwater_query_key IF NOT EXISTS
FOR (n:HwQuery) REQUIRE n.key IS UNIQUE

// retention_key: A scope has one retention node
CREATE CONSTRAINT headwater_retention_key IF NOT EXISTS
FOR (n:HwRetention) REQUIRE n.key IS UNIQUE

// run_key: The key of a run is unique
CREATE CONSTRAINT headwater_run_key IF NOT EXISTS
FOR (n:HwRun) REQUIRE n.key IS UNIQUE

// schemaversion_key: The key of a schema of a dataset is unique
CREATE CONSTRAINT headwater_schemaversion_key IF NOT EXISTS
FOR (n:HwSchemaVersion) REQUIRE n.key IS UNIQUE

// segment_key: The key of a segment is unique
CREATE CONSTRAINT headwater_segment_key IF NOT EXISTS
FOR (n:HwSegment) REQUIRE n.key IS UNIQUE

// summary_key: The key of a summary is unique
CREATE CONSTRAINT headwater_summary_key IF NOT EXISTS
FOR (n:HwSummary) REQUIRE n.key IS UNIQUE

// version_key: The key of a version is unique
CREATE CONSTRAINT headwater_version_key IF NOT EXISTS
FOR (n:HwVersion) REQUIRE n.key IS UNIQUE

// consumed_key: The key of CONSUMED relationships is unique
CREATE CONSTRAINT headwater_consumed_key IF NOT EXISTS
FOR ()-[r:CONSUMED]-() REQUIRE r.key IS UNIQUE

// derives_key: The key of DERIVES relationships is unique
CREATE CONSTRAINT headwater_derives_key IF NOT EXISTS
FOR ()-[r:DERIVES]-() REQUIRE r.key IS UNIQUE

// feeds_key: The key of FEEDS relationships is unique
CREATE CONSTRAINT headwater_feeds_key IF NOT EXISTS
FOR ()-[r:FEEDS]-() REQUIRE r.key IS UNIQUE

// generates_key: The key of GENERATES relationships is unique
CREATE CONSTRAINT headwater_generates_key IF NOT EXISTS
FOR ()-[r:GENERATES]-() REQUIRE r.key IS UNIQUE

// influences_key: The key of INFLUENCES relationships is unique
CREATE CONSTRAINT headwater_influences_key IF NOT EXISTS
FOR ()-[r:INFLUENCES]-() REQUIRE r.key IS UNIQUE

// produced_key: The key of PRODUCED relationships is unique
CREATE CONSTRAINT headwater_produced_key IF NOT EXISTS
FOR ()-[r:PRODUCED]-() REQUIRE r.key IS UNIQUE

// alias_dataset: Aliases by the key that a dataset of that name has
CREATE INDEX headwater_alias_dataset IF NOT EXISTS
FOR (n:HwAlias) ON (n.dataset)

// incident_cause: Incidents by cause, to find the open incident of a cause that occurs again
CREATE INDEX headwater_incident_cause IF NOT EXISTS
FOR (n:HwIncident) ON (n.cause)

// incident_state: Incidents by state, such as the open ones
CREATE INDEX headwater_incident_state IF NOT EXISTS
FOR (n:HwIncident) ON (n.state)

// run_campaign: Runs of a campaign
CREATE INDEX headwater_run_campaign IF NOT EXISTS
FOR (r:HwRun) ON (r._campaign)

// run_checked: Runs of a job with outcomes of assertions, the latest first
CREATE INDEX headwater_run_checked IF NOT EXISTS
FOR (r:HwRun) ON (r._checked, r.last_seen)

// run_id: Runs by the first characters of their id
CREATE INDEX headwater_run_id IF NOT EXISTS
FOR (r:HwRun) ON (r._id_start)

// run_lasts: Runs of a streaming query by the time of their last observation
CREATE INDEX headwater_run_lasts IF NOT EXISTS
FOR (r:HwRun) ON (r._query, r.last_seen)

// run_open: Runs without an end, by the time of their last observation
CREATE INDEX headwater_run_open IF NOT EXISTS
FOR (r:HwRun) ON (r.open, r.last_seen)

// run_starts: Runs of a streaming query by the time of their first observation
CREATE INDEX headwater_run_starts IF NOT EXISTS
FOR (r:HwRun) ON (r._query, r.first_seen)

// run_state: Runs by state, the latest first, such as the failed runs of all jobs
CREATE INDEX headwater_run_state IF NOT EXISTS
FOR (r:HwRun) ON (r.state, r.last_seen)

// segment_broken: Segments with missing batches, or with gaps or overlaps of offsets, in all queries
CREATE INDEX headwater_segment_broken IF NOT EXISTS
FOR (n:HwSegment) ON (n._broken)

// segment_chain: Segments of a query in batch order: neighbours, and a search by batch id
CREATE INDEX headwater_segment_chain IF NOT EXISTS
FOR (n:HwSegment) ON (n.query, n.start)

// segment_contested: Segments of a query with conflicting reports, in batch order; a trace reads them for each query
CREATE INDEX headwater_segment_contested IF NOT EXISTS
FOR (n:HwSegment) ON (n._contested, n.start)

// segment_rewinds: Segments of a query whose positions go backwards, which a search by batch id must not cross
CREATE INDEX headwater_segment_rewinds IF NOT EXISTS
FOR (n:HwSegment) ON (n._rewinds)

// summary_chain: Summaries of a query in order of their first batch, for searches by batch id or offset
CREATE INDEX headwater_summary_chain IF NOT EXISTS
FOR (n:HwSummary) ON (n.query, n.first_batch)

// used_by_job: Plans of a job by the time of their use, to find the latest application run without reading all of the job's runs
CREATE INDEX headwater_used_by_job IF NOT EXISTS
FOR ()-[u:USED]-() ON (u._job, u.first_seen)

// alias_words: Words of aliases, made by `graph/words.py`; separated by spaces, without any other analysis
CREATE FULLTEXT INDEX headwater_alias_words IF NOT EXISTS
FOR (n:HwAlias) ON EACH [n._words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}

// column_words: Words of columns' names, made by `graph/words.py`; indexed in the background, because columns come by the hundred
CREATE FULLTEXT INDEX headwater_column_words IF NOT EXISTS
FOR (n:HwColumn) ON EACH [n._words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: true}}

// dataset_words: Words of datasets' names, owners and tags, made by `graph/words.py`; separated by spaces
CREATE FULLTEXT INDEX headwater_dataset_words IF NOT EXISTS
FOR (n:HwDataset) ON EACH [n._words, n._owner_words, n._tag_words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}

// job_words: Words of jobs' names, owners and tags, made by `graph/words.py`; separated by spaces
CREATE FULLTEXT INDEX headwater_job_words IF NOT EXISTS
FOR (n:HwJob) ON EACH [n._words, n._owner_words, n._tag_words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}

// position_paths: Runs and micro-batches that read or wrote a file or partition, by the mark of its path
CREATE FULLTEXT INDEX headwater_position_paths IF NOT EXISTS
FOR ()-[r:CONSUMED|PRODUCED]-() ON EACH [r._marks]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'keyword'}}
