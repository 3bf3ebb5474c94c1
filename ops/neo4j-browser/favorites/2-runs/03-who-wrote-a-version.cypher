// Which run or micro-batch wrote each version of a dataset
WITH 'delays' AS wanted
MATCH (version:HwVersion)-[:OF]->(dataset:HwDataset) WHERE wanted IN [dataset.name, dataset.title]
MATCH (writer:HwRun|HwSegment)-[wrote:WROTE]->(version)
UNWIND coalesce(wrote.batches, [null]) AS batch
OPTIONAL MATCH (writer)-[:IN_QUERY]->(query:HwQuery)
OPTIONAL MATCH (writer)-[:IN_RUN]->(of:HwRun) WHERE of.first_batch <= batch <= of.last_batch
WITH version, wrote, batch, query, CASE WHEN writer:HwRun THEN writer ELSE of END AS run
RETURN version.version AS version, coalesce(query.name, run.job_name) AS by, batch, run.run_id AS run,
       run.code_version AS code, CASE WHEN batch IS NULL THEN run.ended_at ELSE wrote.first_time END AS at,
       version.file_count AS files, version.file_bytes AS bytes
ORDER BY at DESC
LIMIT 200
