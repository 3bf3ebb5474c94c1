// Datasets that jobs write
UNWIND $given.jobs AS job
MATCH (j:HwJob {key: job})-[:WRITES]->(d:HwDataset)
RETURN job, collect(DISTINCT [d.key, id(d)]) AS datasets
