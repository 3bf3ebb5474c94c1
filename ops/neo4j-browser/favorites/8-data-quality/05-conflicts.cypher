// Conflicts: one batch reported with two different ends
// No rows is good news.
MATCH (conflict:Conflict)-[:CONFLICTS_WITH]->(batch:Interval)-[:IN_QUERY]->(query:Query)
RETURN query.name AS query, batch.batch_id AS batch, conflict.run_id AS other_run, conflict.processing_time AS other_time,
       batch.run_id AS run, batch.processing_time AS time
ORDER BY query, batch
LIMIT 300
