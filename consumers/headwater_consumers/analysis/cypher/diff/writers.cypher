// Jobs that write a dataset
MATCH (d:HwDataset)<-[:WRITES]-(j:HwJob)
USING INDEX SEEK d:HwDataset(key)
WHERE d.key IN $given.datasets
RETURN DISTINCT j {.key, .namespace, .name, .processing_type} AS job ORDER BY job.key LIMIT $given.limit
