// version_is_one: The graph has one version node
CREATE CONSTRAINT headwater_version_is_one IF NOT EXISTS
FOR (v:HeadwaterGraph) REQUIRE v.id IS UNIQUE

// alias_key: An alias is there once
CREATE CONSTRAINT headwater_alias_key IF NOT EXISTS
FOR (n:HwAlias) REQUIRE n.key IS UNIQUE

// column_key: A column is there once
CREATE CONSTRAINT headwater_column_key IF NOT EXISTS
FOR (n:HwColumn) REQUIRE n.key IS UNIQUE

// consumer_key: A consumer is there once
CREATE CONSTRAINT headwater_consumer_key IF NOT EXISTS
FOR (n:HwConsumer) REQUIRE n.key IS UNIQUE

// dataset_key: A dataset is there once
CREATE CONSTRAINT headwater_dataset_key IF NOT EXISTS
FOR (n:HwDataset) REQUIRE n.key IS UNIQUE

// declaration_key: A declaration is there once
CREATE CONSTRAINT headwater_declaration_key IF NOT EXISTS
FOR (n:HwDeclaration) REQUIRE n.key IS UNIQUE

// declarationset_key: A declaration set is there once
CREATE CONSTRAINT headwater_declarationset_key IF NOT EXISTS
FOR (n:HwDeclarationSet) REQUIRE n.key IS UNIQUE

// incident_key: An incident is there once
CREATE CONSTRAINT headwater_incident_key IF NOT EXISTS
FOR (n:HwIncident) REQUIRE n.key IS UNIQUE

// job_key: A job is there once
CREATE CONSTRAINT headwater_job_key IF NOT EXISTS
FOR (n:HwJob) REQUIRE n.key IS UNIQUE

// plan_key: A plan is there once
CREATE CONSTRAINT headwater_plan_key IF NOT EXISTS
FOR (n:HwPlan) REQUIRE n.key IS UNIQUE

// progress_key: The progress in a partition is there once
CREATE CONSTRAINT headwater_progress_key IF NOT EXISTS
FOR (n:HwProgress) REQUIRE n.key IS UNIQUE

// query_key: A query is there once
CREATE CONSTRAINT headwater_query_key IF NOT EXISTS
FOR (n:HwQuery) REQUIRE n.key IS UNIQUE

// retention_key: A scope's retention is there once
CREATE CONSTRAINT headwater_retention_key IF NOT EXISTS
FOR (n:HwRetention) REQUIRE n.key IS UNIQUE

// run_key: A run is there once
CREATE CONSTRAINT headwater_run_key IF NOT EXISTS
FOR (n:HwRun) REQUIRE n.key IS UNIQUE

// schemaversion_key: A schema of a dataset is there once
CREATE CONSTRAINT headwater_schemaversion_key IF NOT EXISTS
FOR (n:HwSchemaVersion) REQUIRE n.key IS UNIQUE

// segment_key: A segment is there once
CREATE CONSTRAINT headwater_segment_key IF NOT EXISTS
FOR (n:HwSegment) REQUIRE n.key IS UNIQUE

// summary_key: A summary is there once
CREATE CONSTRAINT headwater_summary_key IF NOT EXISTS
FOR (n:HwSummary) REQUIRE n.key IS UNIQUE

// version_key: A version is there once
CREATE CONSTRAINT headwater_version_key IF NOT EXISTS
FOR (n:HwVersion) REQUIRE n.key IS UNIQUE

// consumed_key: A CONSUMED relationship is there once
CREATE CONSTRAINT headwater_consumed_key IF NOT EXISTS
FOR ()-[r:CONSUMED]-() REQUIRE r.key IS UNIQUE

// derives_key: A DERIVES relationship is there once
CREATE CONSTRAINT headwater_derives_key IF NOT EXISTS
FOR ()-[r:DERIVES]-() REQUIRE r.key IS UNIQUE

// feeds_key: A FEEDS relationship is there once
CREATE CONSTRAINT headwater_feeds_key IF NOT EXISTS
FOR ()-[r:FEEDS]-() REQUIRE r.key IS UNIQUE

// generates_key: A GENERATES relationship is there once
CREATE CONSTRAINT headwater_generates_key IF NOT EXISTS
FOR ()-[r:GENERATES]-() REQUIRE r.key IS UNIQUE

// influences_key: A INFLUENCES relationship is there once
CREATE CONSTRAINT headwater_influences_key IF NOT EXISTS
FOR ()-[r:INFLUENCES]-() REQUIRE r.key IS UNIQUE

// produced_key: A PRODUCED relationship is there once
CREATE CONSTRAINT headwater_produced_key IF NOT EXISTS
FOR ()-[r:PRODUCED]-() REQUIRE r.key IS UNIQUE

// alias_dataset: Aliases by the key that a dataset of that name has
CREATE INDEX headwater_alias_dataset IF NOT EXISTS
FOR (n:HwAlias) ON (n.dataset)

// incident_cause: Incidents by cause: the open one of a cause that shows again
CREATE INDEX headwater_incident_cause IF NOT EXISTS
FOR (n:HwIncident) ON (n.cause)

// incident_state: Incidents by state: the open ones
CREATE INDEX headwater_incident_state IF NOT EXISTS
FOR (n:HwIncident) ON (n.state)

// run_checked: Runs of a job with outcomes of assertions, the latest first
CREATE INDEX headwater_run_checked IF NOT EXISTS
FOR (r:HwRun) ON (r._checked, r.last_seen)

// run_id: Runs by id: one that begins with a few characters
CREATE INDEX headwater_run_id IF NOT EXISTS
FOR (r:HwRun) ON (r._id_start)

// run_lasts: When the runs of a streaming query were last seen
CREATE INDEX headwater_run_lasts IF NOT EXISTS
FOR (r:HwRun) ON (r._query, r.last_seen)

// run_open: Runs without an end, by when they were last seen
CREATE INDEX headwater_run_open IF NOT EXISTS
FOR (r:HwRun) ON (r.open, r.last_seen)

// run_starts: When the runs of a streaming query began
CREATE INDEX headwater_run_starts IF NOT EXISTS
FOR (r:HwRun) ON (r._query, r.first_seen)

// run_state: Runs by state, the latest first: the failed ones of the estate
CREATE INDEX headwater_run_state IF NOT EXISTS
FOR (r:HwRun) ON (r.state, r.last_seen)

// segment_broken: Where batches are missing, or offsets leave a gap or overlap, in all queries
CREATE INDEX headwater_segment_broken IF NOT EXISTS
FOR (n:HwSegment) ON (n._broken)

// segment_chain: Segments of a query in batch order: neighbours, and a search by batch id
CREATE INDEX headwater_segment_chain IF NOT EXISTS
FOR (n:HwSegment) ON (n.query, n.start)

// segment_contested: Where several reports of a micro-batch disagree, in batch order: a trace asks for them of each query
CREATE INDEX headwater_segment_contested IF NOT EXISTS
FOR (n:HwSegment) ON (n._contested, n.start)

// segment_rewinds: Where positions of a query don't go on upwards, so that a search by batch id must not look across
CREATE INDEX headwater_segment_rewinds IF NOT EXISTS
FOR (n:HwSegment) ON (n._rewinds)

// summary_chain: Summaries of a query in order of their first batch: what a search by batch id or offset begins with
CREATE INDEX headwater_summary_chain IF NOT EXISTS
FOR (n:HwSummary) ON (n.query, n.first_batch)

// used_by_job: When plans of a job were used, in order: the latest application run is found without looking at all of its runs
CREATE INDEX headwater_used_by_job IF NOT EXISTS
FOR ()-[u:USED]-() ON (u._job, u.first_seen)

// alias_words: Words of aliases, which `graph/words.py` makes: parted by spaces, nothing more
CREATE FULLTEXT INDEX headwater_alias_words IF NOT EXISTS
FOR (n:HwAlias) ON EACH [n._words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}

// column_words: Words of columns' names, which `graph/words.py` makes; in the background, as columns come by the hundred
CREATE FULLTEXT INDEX headwater_column_words IF NOT EXISTS
FOR (n:HwColumn) ON EACH [n._words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: true}}

// dataset_words: Words of datasets' names, owners and tags, which `graph/words.py` makes: parted by spaces, nothing more
CREATE FULLTEXT INDEX headwater_dataset_words IF NOT EXISTS
FOR (n:HwDataset) ON EACH [n._words, n._owner_words, n._tag_words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}

// job_words: Words of jobs' names, owners and tags, which `graph/words.py` makes: parted by spaces, nothing more
CREATE FULLTEXT INDEX headwater_job_words IF NOT EXISTS
FOR (n:HwJob) ON EACH [n._words, n._owner_words, n._tag_words]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}

// position_paths: Which runs and micro-batches read or wrote a file or partition, by its mark
CREATE FULLTEXT INDEX headwater_position_paths IF NOT EXISTS
FOR ()-[r:CONSUMED|PRODUCED]-() ON EACH [r._marks]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'keyword'}}
