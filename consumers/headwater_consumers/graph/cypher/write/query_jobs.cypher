// Jobs of queries
UNWIND $batch.rows AS row
MATCH (q:Query {key: row.start})
MATCH (j:Job {key: row.end})
MERGE (q)-[:OF]->(j)
