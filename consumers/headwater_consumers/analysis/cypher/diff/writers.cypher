// Jobs that write a dataset
MATCH (d:Dataset)<-[:WRITES]-(j:Job)
USING INDEX SEEK d:Dataset(key)
WHERE d.key IN $given.datasets
RETURN DISTINCT j {.key, .namespace, .name, .processing_type} AS job ORDER BY job.key LIMIT $given.limit
