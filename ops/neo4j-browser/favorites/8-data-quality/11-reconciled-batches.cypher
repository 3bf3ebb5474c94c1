// Micro-batches that were reconciled from the checkpoint after a crash
// No rows is good news.
MATCH (segment:HwSegment)-[:IN_QUERY]->(query:HwQuery)
WHERE segment.reconciled IS NOT NULL
RETURN query.name AS query, min(head(segment.reconciled)) AS first_batch, max(last(segment.reconciled)) AS last_batch,
       sum(size(segment.reconciled)) AS batches
ORDER BY batches DESC, query
LIMIT 300
