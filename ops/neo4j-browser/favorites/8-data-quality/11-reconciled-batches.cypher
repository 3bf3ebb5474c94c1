// Micro-batches that were reconciled from the checkpoint after a crash
// No rows is good news.
MATCH (batch:Interval {provenance: 'RECONCILED'})-[:IN_QUERY]->(query:Query)
RETURN query.name AS query, min(batch.batch_id) AS first_batch, max(batch.batch_id) AS last_batch, count(*) AS batches
ORDER BY batches DESC, query
LIMIT 300
