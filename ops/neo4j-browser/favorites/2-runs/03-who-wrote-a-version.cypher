// Which run or micro-batch wrote each version of a dataset
WITH 'delays' AS wanted
MATCH (version:Version)-[:OF]->(dataset:Dataset) WHERE wanted IN [dataset.name, dataset.title]
MATCH (writer:Run|Interval)-[:WROTE]->(version)
OPTIONAL MATCH (writer)-[:IN_QUERY]->(query:Query)
RETURN version.version AS version, coalesce(query.name, writer.job_name) AS by, writer.batch_id AS batch,
       writer.run_id AS run, writer.code_version AS code, coalesce(writer.processing_time, writer.ended_at) AS at,
       version.file_count AS files, version.file_bytes AS bytes
ORDER BY at DESC
LIMIT 200
