// Jobs of queries
UNWIND $batch.rows AS row
MATCH (q:HwQuery {key: row.start})
MATCH (j:HwJob {key: row.end})
MERGE (q)-[:OF]->(j)
