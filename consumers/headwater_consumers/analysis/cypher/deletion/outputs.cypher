// Datasets that jobs write
UNWIND $given.jobs AS job
MATCH (j:Job {key: job})-[:WRITES]->(d:Dataset)
RETURN job, collect(DISTINCT [d.key, id(d)]) AS datasets
